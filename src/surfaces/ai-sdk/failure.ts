/** A failed call as an error that the SDK puts into words. */
import type { ToolFailure } from '../../index.ts';

/**
 * What a tool throws with `failures: "errors"`; the SDK hands it to `onError` and keeps it in the
 * `tool-error` parts of a step.
 */
export interface AiSdkFailure extends Error {
  /** The session's result, with its code. */
  readonly result: ToolFailure;
}

/**
 * Version 6 writes an error's message for the model, version 7 its name and message: without a name
 * both write the same.
 */
export function failureError(message: string, result: ToolFailure): AiSdkFailure {
  return Object.assign(new Error(message), { name: '', result });
}
