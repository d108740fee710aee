// A page whose data are in it.

function start() {
  const page = new Page(JSON.parse(document.getElementById("data").textContent));
  page.placeAll();
  page.follow(location.hash);
  addEventListener("hashchange", () => page.follow(location.hash));
  redrawWhenResized(() => page.redraw());
}

start();
