/** Wakes of sessions on a node. */
import { describe, expect, test, vi } from 'vitest';
import type { Store } from '../../../src/extend.ts';
import { memoryStore } from '../../../src/index.ts';
import { createHub } from '../../../src/surfaces/relay/hub.ts';
import { keptStore } from '../../../src/surfaces/relay/ports/kept-store.ts';
import { kept, watchedStore } from './watched-store.ts';

const settle = () => new Promise<void>((resolve) => setImmediate(resolve));

describe('a hub', () => {
  test('has one subscription per session for all listeners, and none after the last one has stopped', async () => {
    const watched = watchedStore();
    const hub = createHub(kept(watched.store), () => {});
    const stops = await Promise.all(['a', 'a', 'a', 'b'].map((code) => hub.watch(code, () => {})));
    expect(watched.listening).toBe(2);
    for (const stop of [...stops, ...stops]) stop();
    await settle();
    expect(watched.listening).toBe(0);
    const stop = await hub.watch('a', () => {});
    expect(watched.listening).toBe(1);
    stop();
  });

  test('wakes the listeners of the session in order, except those that have stopped', async () => {
    const { store } = watchedStore();
    const hub = createHub(kept(store), () => {});
    const heard: unknown[] = [];
    const stop = await hub.watch('a', (wake) => heard.push(wake));
    await hub.watch('b', () => heard.push('b'));
    hub.wake('a', 'tools');
    hub.wake('a', 'lease');
    await settle();
    stop();
    hub.wake('a', 'closed');
    await settle();
    expect(heard).toEqual(['tools', 'lease']);
  });

  test('calls a function once per watch, until each watch has stopped', async () => {
    const { store } = watchedStore();
    const hub = createHub(kept(store), () => {});
    const listener = vi.fn();
    const stop = await hub.watch('a', listener);
    await hub.watch('a', listener);
    hub.wake('a', 'tools');
    await settle();
    expect(listener).toHaveBeenCalledTimes(2);
    stop();
    hub.wake('a', 'tools');
    await settle();
    expect(listener).toHaveBeenCalledTimes(3);
  });

  test('wakes a listener for an id only for that id and for wake-ups without an id', async () => {
    const watched = watchedStore();
    const hub = createHub(kept(watched.store), () => {});
    const heard: unknown[] = [];
    const stop = await hub.watch('a', (wake) => heard.push(wake), 'one');
    for (const wake of ['call:one', 'call:one {"state":"ended"} 2', 'report:one {}', 'cancel:one'])
      hub.wake('a', wake as 'call:one');
    for (const wake of ['call:two', 'call:one2', 'request:on', 'log:application {"id":"one"} 1'])
      hub.wake('a', wake as 'call:two');
    hub.wake('a', 'tools');
    await settle();
    watched.lost();
    expect(heard).toEqual([
      'call:one',
      'call:one {"state":"ended"} 2',
      'report:one {}',
      'cancel:one',
      'tools',
      undefined,
    ]);
    stop();
    hub.wake('a', 'call:one');
    await settle();
    expect([heard.length, watched.listening]).toEqual([6, 0]);
  });

  test('finds a listener for an id with spaces by the first word of the id', async () => {
    const { store } = watchedStore();
    const hub = createHub(kept(store), () => {});
    const heard = vi.fn();
    await hub.watch('a', heard, 'one two');
    hub.wake('a', 'call:one two');
    await settle();
    expect(heard.mock.calls).toEqual([['call:one two']]);
  });

  test('tells listeners that messages may have been lost', async () => {
    const watched = watchedStore();
    const listener = vi.fn();
    await createHub(kept(watched.store), () => {}).watch('a', listener);
    watched.lost();
    expect(listener).toHaveBeenCalledWith(undefined);
  });

  test('protects listeners from one that throws or stops another', async () => {
    const { store } = watchedStore();
    const report = vi.fn();
    const hub = createHub(kept(store), report);
    const heard: string[] = [];
    let stopOther = (): void => {};
    await hub.watch('a', () => {
      stopOther();
      throw new Error('mine');
    });
    stopOther = await hub.watch('a', () => void heard.push('stopped'));
    await hub.watch('a', () => void heard.push('rest'));
    hub.wake('a', 'tools');
    await settle();
    expect(heard).toEqual(['rest']);
    expect(report).toHaveBeenCalledTimes(1);
  });

  test('rejects all watches that wait for a failed subscription, and subscribes again for the next one', async () => {
    const { store } = watchedStore();
    let fails = true;
    const flaky: Store = {
      ...store,
      listen: async (...args) =>
        fails ? Promise.reject(new Error('no messages')) : store.listen(...args),
    };
    const hub = createHub(kept(flaky), () => {});
    const both = await Promise.allSettled([hub.watch('a', () => {}), hub.watch('a', () => {})]);
    expect(both.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    fails = false;
    const heard = vi.fn();
    await hub.watch('a', heard);
    hub.wake('a', 'tools');
    await settle();
    expect(heard).toHaveBeenCalledWith('tools');
  });

  test('reports a failed wake-up and a failed end of a subscription', async () => {
    const report = vi.fn();
    const store: Store = {
      ...memoryStore(),
      apply: () => Promise.reject(new Error('publish')),
      listen: async () => () => {
        throw new Error('unsubscribe');
      },
    };
    const hub = createHub(
      keptStore(store, (_, error) => report(error)),
      report,
    );
    hub.wake('a', 'tools');
    (await hub.watch('a', () => {}))();
    await settle();
    expect(report.mock.calls.map(([error]) => (error as Error).message)).toEqual([
      'publish',
      'unsubscribe',
    ]);
  });
});
