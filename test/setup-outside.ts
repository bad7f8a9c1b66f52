/**
 * Where tests talk to the outside, nobody fakes the clock: a dying socket of another file would
 * then set its timers by it.
 */
import { vi } from 'vitest';

vi.useFakeTimers = () => {
  throw new Error(
    'Expected no faked clock where tests open sockets; let this file run inside: see ' +
      'test/runner/projects.ts',
  );
};
