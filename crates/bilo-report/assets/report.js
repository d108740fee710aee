// A page whose data are in it.

const page = new Page(JSON.parse(document.getElementById("data").textContent));
page.follow(location.hash);
addEventListener("hashchange", () => page.follow(location.hash));
