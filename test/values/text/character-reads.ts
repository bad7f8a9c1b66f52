/** Counting steps instead of milliseconds: how often code looks at a character of any text. */

const readers = ['charCodeAt', 'codePointAt', 'charAt', 'at'] as const;

/** Runs something at once, and answers how many characters were read by it. */
export function charactersRead(run: () => void): number {
  let count = 0;
  const originals = readers.map(
    (name) =>
      [
        name,
        Object.getOwnPropertyDescriptor(String.prototype, name) as PropertyDescriptor,
      ] as const,
  );
  for (const [name, descriptor] of originals) {
    const value = function (this: string, index: number): unknown {
      count++;
      return Reflect.apply(descriptor.value as (index: number) => unknown, this, [index]);
    };
    Object.defineProperty(String.prototype, name, { ...descriptor, value });
  }
  try {
    run();
  } finally {
    for (const [name, descriptor] of originals)
      Object.defineProperty(String.prototype, name, descriptor);
  }
  return count;
}
