// A page that asks for its data again and again, for as long as somebody looks.

const BETWEEN = 1000;
const main = document.querySelector("main");
let page = null;
let seen = "";

function show({ title, head, figures, data }) {
  document.title = title;
  main.dataset.state = "live";
  main.querySelector("#head").innerHTML = head;
  // What is being dragged stays.
  if (figures === seen || main.querySelector("path.cross")) return;
  seen = figures;
  main.querySelector("#figures").innerHTML = figures;
  page = new Page(data, page);
}

async function look() {
  try {
    if (!document.hidden) show(await (await fetch(`state${location.search}`, { cache: "no-store" })).json());
  } catch {
    main.dataset.state = "lost";
  }
  setTimeout(look, BETWEEN);
}

look();
