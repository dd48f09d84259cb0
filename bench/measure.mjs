// Repetitions, medians and spreads.
export function median(values) {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

/** Half the distance between the first and third quartile, relative to the median. */
export function noise(values) {
  const sorted = [...values].sort((a, b) => a - b);
  const at = (part) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))];
  return (at(0.75) - at(0.25)) / 2 / median(values);
}

export async function repeat(times, work) {
  const values = [];
  for (let i = 0; i < times; i++) values.push(await work(i));
  return values;
}

export async function milliseconds(work) {
  const start = process.hrtime.bigint();
  await work();
  return Number(process.hrtime.bigint() - start) / 1e6;
}

export function percent(share) {
  return `±${Math.round(share * 100)} %`;
}
