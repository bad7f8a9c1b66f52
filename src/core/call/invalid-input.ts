/** The error of a call whose arguments do not fit. The library's own tools can throw it. */
import { type ToolError, toolError } from '../../values/errors/index.ts';
import type { JsonValue } from '../../values/json/index.ts';
import { type Issue, issueLines } from '../../values/schema/issues.ts';
import type { FoundCall } from './call.ts';
import { shownNameOf } from './shown.ts';

const errors = new WeakMap<object, ToolError>();

export function invalidInput(call: FoundCall, issues: readonly Issue[]): ToolError {
  return toolError(
    'invalid_input',
    `The arguments of \`${shownNameOf(call)}\` are invalid. Correct them and call ` +
      `again.\n${issueLines(issues)}`,
    { details: issues as unknown as JsonValue },
  );
}

/** What a tool of the library throws if its schema cannot express what is wrong. */
export function inputFault(call: FoundCall, issue: Issue): Error {
  const fault = new Error(issue.message);
  errors.set(fault, invalidInput(call, [issue]));
  return fault;
}

/** What a tool of the library throws so that its call ends with this error. */
export function faultOf(error: ToolError): Error {
  const fault = new Error(error.message);
  errors.set(fault, error);
  return fault;
}

/** The error of the call, if that was thrown. */
export function thrownInputFault(thrown: unknown): ToolError | undefined {
  return typeof thrown === 'object' && thrown !== null ? errors.get(thrown) : undefined;
}
