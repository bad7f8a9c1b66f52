/** Waits for what a process or a file brings about. */

/** Waits for something to become true, for a minute at most: the machine may be busy. */
export async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  for (let turn = 0; turn < 1_200; turn++) {
    if (await holds()) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error('It did not come true.');
}
