/** Errors as data, for the messages between the host and a sandbox. */
import { maxErrorText, type SentError } from '../messages.ts';

/** Copies the parts of a thrown value that are sent. Never throws. */
export function sentError(thrown: unknown): SentError {
  const message = read(thrown, 'message');
  const stack = read(thrown, 'stack');
  const isText = typeof thrown === 'string';
  return {
    name: (read(thrown, 'name') ?? (isText ? 'Error' : typeof thrown)).slice(0, 200),
    message: (message ?? (isText ? thrown : '')).slice(0, maxErrorText),
    stack: stack?.slice(0, maxErrorText),
  };
}

/** Makes an error from the parts of one that was sent. */
export function receivedError({ name, message }: SentError): Error {
  if (name === 'AbortError' || name === 'TimeoutError') return new DOMException(message, name);
  const error = new Error(message);
  if (name !== 'Error') Object.defineProperty(error, 'name', { value: name, configurable: true });
  return error;
}

function read(thrown: unknown, name: string): string | undefined {
  try {
    if (typeof thrown !== 'object' || thrown === null) return undefined;
    const value = (thrown as Record<string, unknown>)[name];
    return typeof value === 'string' ? value : undefined;
  } catch {
    return undefined;
  }
}
