/** Call ids: cheap, ordered, and unlikely to meet those of another process. */

/** Ids that are cheap, ordered and unlikely to meet those of another process. */
export function createIds(): () => string {
  const prefix = `call_${Math.trunc(Math.random() * 2 ** 40).toString(36)}${Date.now().toString(36)}_`;
  let block = prefix;
  let blocks = 0;
  let count = 0;
  return () => {
    if (count === idBlock.length) {
      count = 0;
      block = `${prefix}${++blocks}_`;
    }
    return block + idBlock[count++];
  };
}

/** Writing a number costs more than the rest of an id: they are written once. */
const idBlock: readonly string[] = Array.from({ length: 1_000 }, (_, index) => String(index + 1));
