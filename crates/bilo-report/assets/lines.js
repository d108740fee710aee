// Curves, ways, points and bars in one rectangle.

class LinesFigure {
  constructor(spec, page) {
    Object.assign(this, { spec, page, hidden: new Set(), zoomed: null });
    this.moving = spec.series.some((series) => !Array.isArray(series.y));
    // Along a way or among points there is a nearest point, not a common x.
    this.scattered = spec.series.some(({ points, x }) => points || x.some((value, i) => i > 0 && value < x[i - 1]));
  }

  // Heights of a curve at the present place of the slider.
  heights(series) {
    if (Array.isArray(series.y)) return series.y;
    const { shape, values } = this.page.array(series.y.array);
    const first = this.page.frame(this.spec.frames) * shape[1];
    return values.subarray(first, first + shape[1]);
  }

  visible() {
    return this.spec.series.filter((series) => !this.hidden.has(series.name));
  }

  // The same for all places of the slider, so that a curve is seen to move.
  ends() {
    const all = this.visible();
    const bands = ({ y, band }) => band.flatMap((half, i) => [y[i] - half, y[i] + half]);
    const heights = all.flatMap((series) => (Array.isArray(series.y) ? [...series.y, ...bands(series)] : extent(this.page.array(series.y.array).values)));
    const rules = this.spec.rules.map((rule) => rule.at);
    const positive = (value) => !this.spec.log || value > 0;
    let [lo, hi] = extent([...heights, ...rules].filter(positive));
    let [left, right] = extent(all.flatMap((series) => series.x));
    if (this.spec.log) {
      const room = Math.max(1.5, (hi / lo) ** 0.05);
      return [[left, right], [lo / room, hi * room]];
    }
    if (this.spec.bars) {
      const half = (right - left) / (all[0] ? 2 * (all[0].x.length - 1) : 1);
      return [[left - half, right + half], [0, 1.08 * hi || 1]];
    }
    const room = 0.06 * (hi - lo) || 0.05 * Math.abs(hi) || 1;
    const aside = this.scattered ? 0.06 * (right - left) || 1 : left === right ? 1 : 0;
    return [[left - aside, right + aside], [lo - room, hi + room]];
  }

  draw(width) {
    const entries = this.spec.series.length > 1 ? this.legendPlaces(width) : [];
    const rows = entries.length ? entries[entries.length - 1].row + 1 : 0;
    const marks = this.spec.marks.length > 1 ? 16 : 0;
    const area = { left: 70, top: 10 + 20 * rows + marks, width: width - 84, height: Math.min(280, 0.62 * width) };
    const height = area.top + area.height + 42;
    const svg = document.createElementNS(SVG, "svg");
    svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
    svg.setAttribute("font-family", FONT);
    const [xs, ys] = this.zoomed ?? this.ends();
    const x = new Scale(xs, [area.left, area.left + area.width]);
    const y = new Scale(ys, [area.top + area.height, area.top], this.spec.log);
    addAxes(svg, area, x, y, this.spec.names, true);
    const clip = addClip(svg, area);
    this.drawContours(clip, x, y);
    this.drawMarks(svg, area, x);
    for (const series of this.visible()) this.drawBand(clip, series, x, y);
    for (const series of this.visible()) this.drawSeries(clip, series, x, y);
    this.drawRules(clip, area, y);
    this.drawLegend(svg, entries);
    const cross = add(svg, "g", { class: "cross" });
    const part = { area, x, y, cross };
    makeLive(svg, part, this);
    return svg;
  }

  colour(series) {
    return this.page.data.colours.lines[series.colour];
  }

  drawSeries(parent, series, x, y) {
    const heights = this.heights(series);
    const stroke = this.colour(series);
    const drawn = (i) => heights[i] !== null && Number.isFinite(heights[i]) && (!this.spec.log || heights[i] > 0);
    if (this.spec.bars) return this.drawBars(parent, series, x, y);
    let path = "";
    let pen = "M";
    series.x.forEach((at, i) => {
      if (drawn(i)) path += `${pen}${x.at(at).toFixed(2)} ${y.at(heights[i]).toFixed(2)}`;
      pen = drawn(i) ? "L" : "M";
    });
    const dashes = series.dashed ? { "stroke-dasharray": "6 4" } : {};
    if (!series.points) add(parent, "path", { d: path, fill: "none", stroke, "stroke-width": 1.8, "stroke-linejoin": "round", ...dashes });
    if (series.points || series.x.length <= 40) {
      const r = series.points ? (series.x.length > 1 ? 2.2 : series.dashed ? 8 : 5) : 2.4;
      const inside = series.points ? this.inside(series) : { fill: stroke };
      series.x.forEach((at, i) => drawn(i) && add(parent, "circle", { cx: x.at(at), cy: y.at(heights[i]), r, ...inside }));
    }
  }

  drawBand(parent, { x: xs, y: heights, band, colour }, x, y) {
    if (!band.length) return;
    const point = (i, side) => `${x.at(xs[i]).toFixed(2)} ${y.at(heights[i] + side * band[i]).toFixed(2)}`;
    const places = xs.map((_, i) => i);
    const path = `M${places.map((i) => point(i, 1)).join("L")}L${places.reverse().map((i) => point(i, -1)).join("L")}Z`;
    add(parent, "path", { d: path, fill: this.page.data.colours.lines[colour], "fill-opacity": 0.2, stroke: "none", class: "band" });
  }

  // Many points let each other be seen; a ring is a goal, which the way may have reached.
  inside(series) {
    const stroke = this.colour(series);
    if (series.dashed) return { fill: "none", stroke, "stroke-width": 2 };
    return { fill: stroke, "fill-opacity": series.x.length > 200 ? 0.5 : 1 };
  }

  drawBars(parent, series, x, y) {
    const width = Math.abs(x.at(series.x[1]) - x.at(series.x[0])) - 1;
    series.x.forEach((at, i) => {
      const top = y.at(series.y[i]);
      add(parent, "rect", { x: x.at(at) - width / 2, y: top, width, height: Math.max(0, y.at(0) - top), fill: this.colour(series) });
    });
  }

  drawContours(parent, x, y) {
    for (const [xs, ys] of this.spec.contours) {
      const path = xs.map((at, i) => `${i ? "L" : "M"}${x.at(at).toFixed(2)} ${y.at(ys[i]).toFixed(2)}`).join("");
      add(parent, "path", { d: path, fill: "none", stroke: "var(--soft)", "stroke-width": 0.8, "stroke-opacity": 0.55, class: "contour" });
    }
  }

  drawRules(parent, area, y) {
    this.spec.rules.forEach(({ at, name }, i) => {
      const height = y.at(at);
      const colour = this.page.data.colours.lines[2 + i];
      add(parent, "path", { d: `M${area.left} ${height}h${area.width}`, stroke: colour, "stroke-width": 1.4, "stroke-dasharray": "6 4" });
      const label = height - 5 < area.top + 14 ? height + 14 : height - 5;
      addText(parent, area.left + area.width - 6, label, `${name} ${shown(at)}`, { "text-anchor": "end", fill: "var(--soft)", "font-size": 11, stroke: "var(--paper)", "stroke-width": 3, "paint-order": "stroke" });
    });
  }

  drawMarks(svg, area, x) {
    if (this.spec.marks.length < 2) return;
    this.spec.marks.forEach(({ at, name }, i) => {
      const place = Math.max(x.at(at), area.left);
      if (place > area.left + area.width) return;
      if (i > 0) add(svg, "path", { d: `M${place} ${area.top}v${area.height}`, stroke: "var(--soft)", "stroke-dasharray": "2 3" });
      const next = this.spec.marks[i + 1];
      const room = (next ? x.at(next.at) : area.left + area.width) - place;
      if (room > 6.5 * name.length) addText(svg, place + 3, area.top - 5, name, { fill: "var(--soft)", "font-size": 11 });
    });
  }

  // Names in rows above the rectangle.
  legendPlaces(width) {
    let [left, row] = [70, 0];
    return this.spec.series.map((series) => {
      const long = 34 + 6.6 * series.name.length;
      if (left + long > width && left > 70) [left, row] = [70, row + 1];
      const entry = { series, left, row };
      left += long + 14;
      return entry;
    });
  }

  drawLegend(svg, entries) {
    for (const { series, left, row } of entries) {
      const y = 10 + 20 * row;
      const group = add(svg, "g", { class: this.hidden.has(series.name) ? "entry hidden" : "entry" });
      const stroke = this.colour(series);
      if (series.points) add(group, "circle", { cx: left + 11, cy: y, r: 4, ...this.inside(series) });
      else add(group, "path", { d: `M${left} ${y}h22`, stroke, "stroke-width": 2, ...(series.dashed ? { "stroke-dasharray": "6 4" } : {}) });
      addText(group, left + 28, y + 4, series.name);
      group.addEventListener("click", () => {
        if (!this.hidden.delete(series.name)) this.hidden.add(series.name);
        this.redraw();
      });
    }
  }

  hover(at, { area, x, y, cross }) {
    cross.replaceChildren();
    if (!at) return this.say("");
    const found = this.scattered ? this.nearestPoint(at, x, y) : this.valuesAt(x.back(at[0]));
    if (!found.length) return this.say("");
    const place = found[0].x;
    add(cross, "path", { d: `M${x.at(place)} ${area.top}v${area.height}`, stroke: "var(--soft)", "stroke-width": 0.8 });
    for (const { series, x: px, y: py } of found) {
      add(cross, "circle", { cx: x.at(px), cy: y.at(py), r: 3.5, fill: this.colour(series), stroke: "var(--paper)" });
    }
    const values = found.map(({ series, y, band }) => `${this.scattered ? this.spec.names[1] : series.name} ${shown(y)}${band === undefined ? "" : ` ± ${shown(band)}`}`);
    this.say(`${this.spec.names[0]} ${shown(place)}: ${values.join(", ")}`);
  }

  // Each visible curve where its x is nearest.
  valuesAt(place) {
    const found = this.visible().map((series) => {
      const i = nearest(series.x, place);
      return { series, x: series.x[i], y: this.heights(series)[i], band: series.band[i] };
    });
    return found.filter(({ y }) => y !== null && Number.isFinite(y) && (!this.spec.log || y > 0));
  }

  nearestPoint([px, py], x, y) {
    let best = [];
    let least = Infinity;
    for (const series of this.visible()) {
      const heights = this.heights(series);
      series.x.forEach((at, i) => {
        const distance = Math.hypot(x.at(at) - px, y.at(heights[i]) - py);
        if (distance < least) [least, best] = [distance, [{ series, x: at, y: heights[i] }]];
      });
    }
    return best;
  }
}
