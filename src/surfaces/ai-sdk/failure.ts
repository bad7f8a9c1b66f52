/** A failed call as an error for the SDK. */
import type { ToolFailure } from '../../core.ts';

/**
 * What a tool throws with `failures: "errors"`. The SDK passes it to `onError` and keeps it in the
 * step's `tool-error` part.
 */
export interface AiSdkFailure extends Error {
  /** The session's result, with the error's code. */
  readonly result: ToolFailure;
}

/**
 * The error has no name: version 6 shows the model an error's message, and version 7 its name and
 * message.
 */
export function failureError(message: string, result: ToolFailure): AiSdkFailure {
  return Object.assign(new Error(message), { name: '', result });
}
