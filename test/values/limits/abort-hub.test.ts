import { getEventListeners } from 'node:events';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type AbortEntry, AbortHub } from '../../../src/values/limits/abort-hub.ts';

const listeners = (signal: AbortSignal) => getEventListeners(signal, 'abort').length;
const recorder = (told: unknown[], name: unknown = undefined): AbortEntry => ({
  aborted: (reason) => void told.push(name ?? reason),
});

describe('an abort hub', () => {
  test('uses one listener per signal, and none once no entry watches it', () => {
    const hub = new AbortHub();
    const { signal } = new AbortController();
    const warnings: Error[] = [];
    const onWarning = (warning: Error) => warnings.push(warning);
    process.on('warning', onWarning);
    const entries = Array.from({ length: 10_000 }, () => recorder([]));
    for (const entry of entries) hub.add(signal, entry);
    expect(listeners(signal)).toBe(1);
    for (const entry of entries) hub.remove(signal, entry);
    expect(listeners(signal)).toBe(0);
    for (const entry of entries) {
      hub.add(signal, entry);
      hub.remove(signal, entry);
    }
    expect(listeners(signal)).toBe(0);
    process.off('warning', onWarning);
    expect(warnings).toEqual([]);
  });

  test('asks a signal to be listened to once, for as long as anybody watches', () => {
    const hub = new AbortHub();
    const { signal } = new AbortController();
    let asked = 0;
    const { addEventListener } = signal;
    signal.addEventListener = ((...given: Parameters<typeof addEventListener>) => {
      asked += 1;
      addEventListener.apply(signal, given);
    }) as typeof addEventListener;
    const entries = [recorder([]), recorder([]), recorder([])];
    for (const entry of entries) hub.add(signal, entry);
    for (const entry of entries.slice(1)) hub.remove(signal, entry);
    hub.add(signal, recorder([]));
    expect(asked).toBe(1);
  });

  test('passes the reason to every entry, once, in the order of addition', () => {
    const hub = new AbortHub();
    const controller = new AbortController();
    const told: unknown[] = [];
    const reasons: unknown[] = [];
    for (const name of ['a', 'b', 'c']) hub.add(controller.signal, recorder(told, name));
    hub.add(controller.signal, recorder(reasons));
    const reason = { why: 'stop' };
    controller.abort(reason);
    controller.abort('again');
    expect(told).toEqual(['a', 'b', 'c']);
    expect(reasons).toEqual([reason]);
    expect(listeners(controller.signal)).toBe(0);
  });

  test('an entry that throws does not stop the others', () => {
    const hub = new AbortHub();
    const controller = new AbortController();
    const told: unknown[] = [];
    const failing: AbortEntry = {
      aborted() {
        throw new Error('failed');
      },
    };
    hub.add(controller.signal, failing);
    hub.add(controller.signal, recorder(told, 'b'));
    expect(() => controller.abort()).not.toThrow();
    expect(told).toEqual(['b']);
  });

  test('a signal that throws when its listener is removed does not stop notifications', () => {
    const hub = new AbortHub();
    const controller = new AbortController();
    controller.signal.removeEventListener = () => {
      throw new Error('a signal of its own');
    };
    const told: unknown[] = [];
    const early = recorder(told, 'early');
    hub.add(controller.signal, early);
    expect(() => hub.remove(controller.signal, early)).not.toThrow();
    hub.add(controller.signal, recorder(told, 'a'));
    expect(() => controller.abort()).not.toThrow();
    expect(told).toEqual(['a']);
  });

  test('an entry that is removed, before or during notification, is not notified', () => {
    const hub = new AbortHub();
    const controller = new AbortController();
    const told: unknown[] = [];
    const [before, during] = [recorder(told, 'before'), recorder(told, 'during')];
    hub.add(controller.signal, before);
    hub.add(controller.signal, { aborted: () => hub.remove(controller.signal, during) });
    hub.add(controller.signal, during);
    hub.remove(controller.signal, before);
    controller.abort();
    expect(told).toEqual([]);
  });

  test('a signal that has aborted, or is aborting, is not watched', () => {
    const hub = new AbortHub();
    const controller = new AbortController();
    const told: unknown[] = [];
    hub.add(controller.signal, {
      aborted: () => hub.add(controller.signal, recorder(told, 'late')),
    });
    controller.abort();
    hub.add(controller.signal, recorder(told, 'later'));
    expect(told).toEqual([]);
    expect(listeners(controller.signal)).toBe(0);
  });

  test('removing what does not watch, twice, or after the abort changes nothing', () => {
    const hub = new AbortHub();
    const controller = new AbortController();
    const told: unknown[] = [];
    const [entry, other] = [recorder(told, 'entry'), recorder(told, 'other')];
    hub.remove(controller.signal, entry);
    hub.add(controller.signal, entry);
    hub.add(controller.signal, other);
    hub.remove(controller.signal, other);
    hub.remove(controller.signal, other);
    controller.abort();
    hub.remove(controller.signal, entry);
    expect(told).toEqual(['entry']);
  });

  test('a signal whose listener cannot be removed does not stop removals', () => {
    const hub = new AbortHub();
    const { signal } = new AbortController();
    signal.removeEventListener = () => {
      throw new Error('not today');
    };
    const entry = recorder([]);
    hub.add(signal, entry);
    expect(() => hub.remove(signal, entry)).not.toThrow();
  });

  test('signals are apart: one entry can watch several', () => {
    const hub = new AbortHub();
    const [one, two] = [new AbortController(), new AbortController()];
    const told: unknown[] = [];
    const entry = recorder(told);
    hub.add(one.signal, entry);
    hub.add(two.signal, entry);
    one.abort('one');
    two.abort('two');
    expect(told).toEqual(['one', 'two']);
  });

  test(
    'any history of adds, removals and aborts tells just those who watched, and leaves a ' +
      'listener only where somebody watches',
    () => {
      const step = fc.record({
        what: fc.constantFrom('add', 'add', 'remove', 'abort'),
        signal: fc.nat(2),
        entry: fc.nat(4),
      });
      fc.assert(
        fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
          const hub = new AbortHub();
          const controllers = [new AbortController(), new AbortController(), new AbortController()];
          const told: unknown[] = [];
          const entries = [0, 1, 2, 3, 4].map((name) => recorder(told, `entry ${name}`));
          const model = controllers.map(() => new Set<number>());
          const expected: string[] = [];
          for (const { what, signal: s, entry: e } of steps) {
            const [controller, entry, watching] = [controllers[s], entries[e], model[s]];
            if (controller === undefined || entry === undefined || watching === undefined) continue;
            if (what === 'add') {
              hub.add(controller.signal, entry);
              if (!controller.signal.aborted) watching.add(e);
            } else if (what === 'remove') {
              hub.remove(controller.signal, entry);
              watching.delete(e);
            } else {
              for (const name of watching) expected.push(`entry ${name}`);
              watching.clear();
              controller.abort();
            }
            expect(controllers.map(({ signal }) => listeners(signal))).toEqual(
              model.map(({ size }) => (size > 0 ? 1 : 0)),
            );
          }
          expect(told).toEqual(expected);
        }),
      );
    },
  );
});
