/** Handlers for worker processes. `context.services.note` writes a line into the test's ledger. */

/** Says that it has started, and ends after a while. */
export const noted = async ({ n, ms }, { services, idempotencyKey, signal }) => {
  services.note({ event: 'started', n, idempotencyKey });
  await new Promise((resolve) => setTimeout(resolve, ms));
  services.note({ event: 'finished', n, aborted: signal.aborted });
  return { n };
};

/** Never ends by itself. */
export const held = (_, { services, signal, emit }) => {
  services.note({ event: 'started' });
  emit('started');
  return new Promise((_resolve, reject) => {
    signal.addEventListener('abort', () => {
      services.note({ event: 'aborted', reason: signal.reason.name });
      reject(signal.reason);
    });
  });
};

/** Blocks its process. */
export const blocking = ({ ms }, { services }) => {
  services.note({ event: 'started' });
  const until = performance.now() + ms;
  while (performance.now() < until);
  services.note({ event: 'finished' });
  return 'finished';
};

/** The time left by the clock of its process. */
export const timed = (_, { deadline }) => deadline - Date.now();
