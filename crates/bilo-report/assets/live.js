// A page that asks for its data again and again, for as long as somebody looks.

const BETWEEN = 1000;

class Live {
  constructor(main) {
    this.main = main;
    this.page = null;
    this.shown = null;
    redrawWhenResized(() => this.page?.redraw());
  }

  async look() {
    try {
      if (!document.hidden) this.show(await (await fetch(`state${location.search}`, { cache: "no-store" })).json());
    } catch {
      this.main.dataset.state = "lost";
    }
    setTimeout(() => this.look(), BETWEEN);
  }

  show({ title, head, figures, data }) {
    document.title = title;
    this.main.dataset.state = "live";
    this.main.querySelector("#head").innerHTML = head;
    // Places of figures change rarely: when a phase brings other losses.
    if (this.page && figures === this.shown) return this.page.renew(data);
    this.shown = figures;
    this.main.querySelector("#figures").innerHTML = figures;
    this.page = new Page(data);
    this.page.placeAll();
  }
}

new Live(document.querySelector("main")).look();
