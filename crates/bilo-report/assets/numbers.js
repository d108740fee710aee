"use strict";

// Bytes of a text in base64.
function bytesOf(text) {
  return Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
}

// An array of the page: numbers in 16 bits between two ends; the greatest number stands for a hole.
function unpacked({ shape, lo, width, data }) {
  const bytes = bytesOf(data);
  const levels = new Uint16Array(bytes.length / 2);
  for (let i = 0; i < levels.length; i++) levels[i] = bytes[2 * i] + 256 * bytes[2 * i + 1];
  const values = Float64Array.from(levels, (level) => (level === 65535 ? NaN : lo + (width * level) / 65534));
  return { shape, values };
}

const RAISED = { "-": "⁻", 0: "⁰", 1: "¹", 2: "²", 3: "³", 4: "⁴", 5: "⁵", 6: "⁶", 7: "⁷", 8: "⁸", 9: "⁹" };

function powerOfTen(exponent) {
  return "10" + [...String(exponent)].map((c) => RAISED[c]).join("");
}

// A number for people, with so many digits.
function shown(value, digits = 5) {
  if (!Number.isFinite(value)) return "–";
  const size = Math.abs(value);
  if (size === 0 || (size >= 1e-3 && size < 1e5)) return String(Number(value.toPrecision(digits))).replace("-", "−");
  const [mantissa, exponent] = value.toExponential(digits - 1).split("e");
  const front = String(Number(mantissa)).replace("-", "−");
  const power = powerOfTen(Number(exponent));
  return front === "1" ? power : `${front} × ${power}`;
}

// Multiples of 1, 2 or 5 times a power of ten between two ends, about as many as wanted.
function roundNumbers(lo, hi, wanted) {
  const rough = (hi - lo) / Math.max(wanted, 1);
  if (!(rough > 0)) return [];
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((step) => step >= 0.99 * rough);
  const found = [];
  for (let i = Math.ceil(lo / step - 1e-9); i <= hi / step + 1e-9; i++) found.push(i * step);
  return found;
}

// Powers of ten between two ends; round numbers where there are fewer than two.
function logarithmicNumbers(lo, hi, wanted) {
  const first = Math.ceil(Math.log10(lo) - 1e-9);
  const last = Math.floor(Math.log10(hi) + 1e-9);
  if (last - first < 1) return roundNumbers(lo, hi, wanted);
  const each = Math.max(1, Math.ceil((last - first + 1) / Math.max(wanted, 2)));
  const found = [];
  for (let power = first; power <= last; power += each) found.push(10 ** power);
  return found;
}

// The place of the number nearest to a value.
function nearest(numbers, value) {
  let best = 0;
  numbers.forEach((number, i) => {
    if (Math.abs(number - value) < Math.abs(numbers[best] - value)) best = i;
  });
  return best;
}

// Least and greatest of the numbers that are such.
function extent(numbers) {
  let lo = Infinity;
  let hi = -Infinity;
  for (const number of numbers) {
    if (number === null || !Number.isFinite(number)) continue;
    lo = Math.min(lo, number);
    hi = Math.max(hi, number);
  }
  return lo <= hi ? [lo, hi] : [0, 1];
}
