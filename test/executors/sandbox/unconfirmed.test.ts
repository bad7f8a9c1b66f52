/** What may be sent before the host has confirmed earlier messages. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  confirmEvery,
  confirmSize,
  maxMessage,
  maxUnconfirmed,
  maxUnconfirmedSize,
} from '../../../src/executors/sandbox/messages.ts';
import { createOutbox } from '../../../src/executors/sandbox/runner/outbox.ts';
import { Unconfirmed } from '../../../src/executors/sandbox/unconfirmed.ts';

test('a sender that waits for the host is never refused, and all that it has arrives', () => {
  const size = fc.constantFrom(1, 1_000, confirmSize, maxMessage);
  const burst = fc.record({ size, times: fc.integer({ min: 0, max: 400 }) });
  fc.assert(
    fc.property(fc.array(fc.option(burst), { maxLength: 8 }), (steps) => {
      const host = new Unconfirmed();
      let wanted = 0;
      let arrived = 0;
      const outbox = createOutbox({
        send: (text) => {
          arrived++;
          expect(host.add(text)).toBe(true);
        },
        onMessage: () => {},
      });
      const confirm = (): void => {
        const { count, size: read } = host.take();
        outbox.confirmed(count, read);
      };
      for (const step of steps) {
        if (step === null) confirm();
        else
          for (let time = 0; time < step.times; time++) {
            wanted++;
            outbox.sendText('x'.repeat(step.size));
          }
      }
      // As the host does it: only once it is due. Until then, the sender needs no word.
      while (arrived < wanted) {
        expect(host.due).toBe(true);
        confirm();
      }
    }),
  );
});

test('a confirmation is due after so many messages, or once they are long', () => {
  const host = new Unconfirmed();
  for (let sent = 1; sent < confirmEvery; sent++) host.add('x');
  expect(host.due).toBe(false);
  host.add('x');
  expect(host.due).toBe(true);
  expect(host.take()).toEqual({ count: confirmEvery, size: confirmEvery });
  expect([host.due, host.take()]).toEqual([false, { count: 0, size: 0 }]);
  host.add('x'.repeat(confirmSize));
  expect(host.due).toBe(false);
  host.add('x');
  expect(host.due).toBe(true);
});

test('one message may be of any size, and others count together', () => {
  const host = new Unconfirmed();
  expect(host.add('x'.repeat(2 * maxUnconfirmedSize))).toBe(true);
  expect(host.add('x')).toBe(false);
  host.take();
  const added = Array.from({ length: maxUnconfirmed + 1 }, () => host.add('x'));
  expect(added.indexOf(false)).toBe(maxUnconfirmed);
});
