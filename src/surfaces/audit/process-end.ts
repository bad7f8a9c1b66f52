/** Work for the end of the process, if that comes before a log is closed. */

const works = new Set<() => void>();

function runAll(): void {
  for (const work of works) work();
}

/**
 * Does something when the process ends by itself or by `process.exit`. It cannot wait for anything.
 * The returned function cancels that.
 */
export function atProcessEnd(work: () => void): () => void {
  // One listener for all logs, because Node warns of many.
  if (works.size === 0) process.on('exit', runAll);
  works.add(work);
  return () => {
    works.delete(work);
    if (works.size === 0) process.off('exit', runAll);
  };
}
