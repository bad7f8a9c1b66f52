/** The sandbox's end of the channel to the host: a port in a thread, a pipe in a process. */
import { type ConnectOpts, Socket, type SocketConstructorOpts } from 'node:net';
import { isMainThread, type MessagePort, parentPort, workerData } from 'node:worker_threads';
import { frameOf, frameReader } from '../frames.ts';

/** Sends and receives texts. */
export interface Channel {
  send(text: string): void;
  onMessage(receive: (text: string) => void): void;
}

/** The file descriptor of the pipe in a process. */
const pipe = 3;

export function openChannel(): Channel {
  return isMainThread ? overPipe() : overPort();
}

function overPort(): Channel {
  const { port } = workerData as { port: MessagePort };
  // The host listens only to the port that it has made. It ignores messages on the parent's port,
  // which a handler can use.
  parentPort?.close();
  silence(process.stdout);
  silence(process.stderr);
  return {
    send: (text) => port.postMessage(text),
    onMessage: (receive) => {
      port.on('message', receive);
    },
  };
}

/**
 * Drops what a thread prints, because neither of the alternatives works. If the host read the
 * output, the thread would keep the host's process alive. If nothing read it, it would fill the
 * memory of the thread.
 */
function silence(stream: NodeJS.WriteStream): void {
  stream.write = (...given: unknown[]): true => {
    const written = given.at(-1);
    if (typeof written === 'function') process.nextTick(written as () => void);
    return true;
  };
}

function overPipe(): Channel {
  let read: (piece: Buffer) => boolean = () => true;
  const buffer = Buffer.allocUnsafe(65_536);
  const options: SocketConstructorOpts & ConnectOpts = {
    fd: pipe,
    readable: true,
    writable: true,
    // A stream would allocate a new buffer for each message.
    onread: { buffer, callback: (length) => read(buffer.subarray(0, length)) },
  };
  const socket = new Socket(options);
  // The host has ended, so there is nothing left to do.
  const end = (): void => process.exit(0);
  socket.on('error', end);
  socket.on('close', end);
  return {
    send: (text) => {
      socket.write(frameOf(text));
    },
    onMessage: (receive) => {
      read = frameReader(0xffff_ffff, receive);
    },
  };
}
