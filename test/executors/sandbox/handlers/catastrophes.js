/** A handler that does what no handler should. It runs in sandboxes only. */
import { closeSync, writeSync } from 'node:fs';
import { isMainThread, parentPort, workerData } from 'node:worker_threads';

const frame = (text, length = Buffer.byteLength(text)) => {
  const header = Buffer.alloc(4);
  header.writeUInt32BE(length);
  return Buffer.concat([header, Buffer.from(text)]);
};

/** Writes to the channel of the sandbox, past the code that owns it. */
const forge = (text) => {
  if (isMainThread) writeAll(frame(text));
  else workerData.port.postMessage(text);
};

const writeAll = (bytes) => {
  for (let rest = bytes; rest.length > 0; ) {
    try {
      rest = rest.subarray(writeSync(3, rest));
    } catch (error) {
      if (error.code !== 'EAGAIN') throw error;
    }
  }
};

const never = () => new Promise(() => {});
const soon = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));

const deeds = {
  nothing: () => 'fine',
  loop: () => {
    for (;;);
  },
  exit: () => process.exit(7),
  kill: () => {
    process.kill(process.pid, 'SIGKILL');
    return never();
  },
  hangUp: () => {
    if (isMainThread) closeSync(3);
    else workerData.port.close();
    return never();
  },
  /** Ends as V8 does when the heap is full, only slowly. */
  slowDeath: () => {
    writeSync(2, 'FATAL ERROR: Reached heap limit - JavaScript heap out of memory\n');
    closeSync(3);
    for (;;);
  },
  throwLater: () => {
    setTimeout(() => {
      throw new Error('thrown in a timer');
    }, 1);
    return never();
  },
  reject: () => {
    void Promise.reject(new Error('rejected in the dark'));
    return never();
  },
  heap: () => {
    const kept = [];
    for (;;) kept.push(Array.from({ length: 1_000 }, (_, index) => ({ index })));
  },
  exitWithHeap: () => {
    globalThis.kept = Array.from({ length: 10_000_000 }, (_, index) => ({ index }));
    process.exit(7);
  },
  heapAtOnce: () => {
    const kept = new Set();
    for (let index = 0; ; index++) kept.add(`key ${index}`);
  },
  offHeap: async () => {
    const kept = [];
    for (;;) {
      kept.push(Buffer.alloc(8 * 1_048_576, 1));
      await soon(1);
    }
  },
  noise: async () => {
    for (let round = 0; round < 50; round++) {
      process.stdout.write(`${'{"t":"returned"}'.repeat(1_000)}\n`);
      process.stderr.write(`${'noise '.repeat(1_000)}\n`);
      console.log('noise');
      await soon(0);
    }
    return 'quiet';
  },
  halfMessage: () => {
    if (isMainThread) writeSync(3, frame('{"t":"returned"', 1_000));
    else workerData.port.postMessage('{"t":"returned"');
    process.exit(0);
  },
  flood: (_, { callId }) => {
    const text = JSON.stringify({ t: 'emit', id: 1, name: callId });
    for (;;) forge(text);
  },
  emitFlood: async (_, { emit }) => {
    for (let sent = 0; sent < 20_000; sent++) emit('tick', { sent });
    return 'sent';
  },
  hugeMessage: () => {
    forge(JSON.stringify({ t: 'emit', id: 1, name: 'x'.repeat(5 * 1_048_576) }));
    return never();
  },
  denseMessage: () => {
    forge(JSON.stringify({ t: 'emit', id: 1, name: 'x', data: new Array(400_000).fill(0) }));
    return never();
  },
  deepMessage: () => {
    forge(`{"t":"emit","id":1,"name":"x","data":${'['.repeat(100_000)}${']'.repeat(100_000)}}`);
    return never();
  },
  twice: ({ id }) => {
    const answer = (value) => JSON.stringify({ t: 'returned', id, kind: 'value', value });
    forge(answer('first'));
    forge(answer('second'));
    return 'third';
  },
  forgeOther: () => {
    for (let id = 0; id < 50; id++)
      forge(JSON.stringify({ t: 'returned', id: 1_000 + id, kind: 'value', value: 'forged' }));
    return 'honest';
  },
  forgeKind: () => {
    forge(JSON.stringify({ t: 'run', id: 1, input: {} }));
    return never();
  },
  forgeProto: ({ id }) => {
    forge(`{"t":"returned","id":${id},"kind":"value","value":{"__proto__":{"polluted":true}}}`);
    return never();
  },
  forgeMember: ({ id }) => {
    forge(`{"__proto__":{"t":"returned"},"id":${id},"kind":"value","value":1}`);
    return never();
  },
  forgeReady: () => {
    forge('{"t":"ready"}');
    return never();
  },
  forgeSurface: ({ id }) => {
    const options = { surface: { name: 'forged' }, callId: 'mine', timeoutMs: 'soon' };
    forge(
      JSON.stringify({ t: 'ask', id, ask: 900, kind: 'tool', name: 'child', input: {}, options }),
    );
    return soon(50).then(() => 'asked');
  },
  garbage: () => {
    forge('not json');
    return never();
  },
  object: () => {
    if (isMainThread) forge('[]');
    else workerData.port.postMessage({ t: 'ready' });
    return never();
  },
  parentPort: () => {
    parentPort?.postMessage('hello');
    return 'said';
  },
  brokenJson: () => {
    JSON.stringify = () => 'garbage';
    return 'odd';
  },
  stubborn: (_, { signal }) =>
    new Promise(() => {
      signal.addEventListener('abort', () => {});
    }),
  obedient: (_, { signal }) =>
    new Promise((_resolve, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason));
    }),
};

export default (input, context) => deeds[input.do](input, context);
