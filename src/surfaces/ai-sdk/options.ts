/** What a host may say about the tools that the SDK is given. */

import { type AnyTool, MisuseError, type ToolSession } from '../../index.ts';
import {
  array,
  oneOf,
  readOptions,
  type TableOf,
  withDefault,
  wrongOption,
} from '../../options.ts';
import { stateOf } from '../../surface-port.ts';

/** What {@link toAiSdkTools} shows, and how it deals with approvals and failures. */
export interface AiSdkOptions<
  Tools extends readonly AnyTool[] | undefined = readonly AnyTool[] | undefined,
> {
  /**
   * `ours`: nothing pauses the SDK. The session's approver is awaited, or the call ends as
   * `approval_pending` and the host resumes it. `sdk`: the SDK pauses where the gates ask, and what
   * it reports is the approver's answer. A session that has an approver of its own cannot be used
   * so.
   * @default "ours"
   */
  readonly approvals?: 'ours' | 'sdk' | undefined;
  /**
   * Definitions of the session's tools. Only these are shown, and the SDK types inputs, results and
   * the parts of its UI messages by them. A tool that is not effective when this is called is not
   * shown. An input is typed as the model was asked to write it: rely on that only where the result
   * is a success.
   * @default all effective tools, without types
   */
  readonly tools?: Tools | undefined;
  /**
   * `results`: a failed call is a result, with `success: false`. `errors`: `execute` throws an
   * {@link AiSdkFailure}, so that a step has a `tool-error` part, and a UI a `tool-output-error`.
   * During the run the model reads the same text either way. A UI reads what the host's `onError`
   * makes of the error, and so does the model when the conversation goes on from the UI's messages.
   * @default "results"
   */
  readonly failures?: 'results' | 'errors' | undefined;
}

/** Options with their defaults. */
export interface ReadAiSdkOptions {
  readonly approvals: 'ours' | 'sdk';
  readonly failures: 'results' | 'errors';
  /** Names of the tools that are shown; undefined for all. */
  readonly names: readonly string[] | undefined;
}

const where = 'toAiSdkTools';
const definitions = 'an array of definitions';
const table = {
  approvals: withDefault(oneOf('ours', 'sdk'), 'ours'),
  failures: withDefault(oneOf('results', 'errors'), 'results'),
  tools: array<AnyTool>(definitions),
} satisfies TableOf<AiSdkOptions>;

/** @throws MisuseError `invalid_option`, `unknown_tool` */
export function readAiSdkOptions(
  session: ToolSession,
  options: AiSdkOptions | undefined,
): ReadAiSdkOptions {
  const { approvals, failures, tools } = readOptions(where, options, table);
  if (approvals === 'sdk' && stateOf(session).setup.approver !== undefined)
    throw new MisuseError(
      'invalid_option',
      'toAiSdkTools: the session has an approver, which would be asked as well. Leave ' +
        '`approvals` at "ours", or the approver out.',
    );
  return { approvals, failures, names: tools === undefined ? undefined : namesOf(session, tools) };
}

function namesOf(session: ToolSession, tools: readonly AnyTool[]): readonly string[] {
  const state = stateOf(session);
  return tools.map((tool) => {
    if (typeof tool !== 'object' || tool === null || typeof tool.name !== 'string')
      throw wrongOption(where, 'tools', definitions, tool);
    if (state.entryOf(tool.name) === undefined)
      throw new MisuseError(
        'unknown_tool',
        `toAiSdkTools: expected \`tools\` to hold definitions of this session's tools, got ` +
          `one of \`${tool.name}\`. Register it first.`,
      );
    return tool.name;
  });
}
