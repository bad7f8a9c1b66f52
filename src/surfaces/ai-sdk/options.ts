/** The options of `toAiSdkTools`. */

import { type AnyTool, MisuseError, type ToolSession } from '../../core.ts';
import { inspectSession } from '../../extend.ts';
import {
  array,
  oneOf,
  reading,
  readOptions,
  type TableOf,
  withDefault,
  wrongOption,
} from '../../values/options/index.ts';

/** Options of {@link toAiSdkTools}: which tools, and how approvals and failures work. */
export interface AiSdkOptions<
  Tools extends readonly AnyTool[] | undefined = readonly AnyTool[] | undefined,
> {
  /**
   * Who asks for an approval. `ours`: the session does. The SDK never pauses; the call waits for
   * the session's approver, or ends as `approval_pending` and the host resumes it. `sdk`: the SDK
   * pauses if the session requires an approval, and reports the answer. The session must not have
   * an approver of its own.
   * @default "ours"
   */
  readonly approvals?: 'ours' | 'sdk' | undefined;
  /**
   * Definitions of the session's tools. Only these tools are shown, and they type the inputs, the
   * results and the parts of UI messages. A tool that is not effective at the time is not shown. An
   * input has the type that the model was asked to write: rely on it only if the result is a
   * success.
   * @default all effective tools, without types
   */
  readonly tools?: Tools | undefined;
  /**
   * How a failed call is returned. `results`: as a result with `success: false`. `errors`:
   * `execute` throws an {@link AiSdkFailure}, so that the step has a `tool-error` part and the UI a
   * `tool-output-error`. During the run the model reads the same text in both modes. With `errors`
   * the UI shows what your `onError` returns. If the conversation continues from the UI's messages,
   * the model reads that text too.
   * @default "results"
   */
  readonly failures?: 'results' | 'errors' | undefined;
  /**
   * For a session with `discovery`: with `ours`, the tools that the model finds can be called in
   * the same run. `tools` has all tools that the session may show. `prepareStep`, which the run
   * needs, shows the model the tools that the session lists at each step.
   * @default a run has the tools that the session lists when it begins
   */
  readonly defer?: 'ours' | undefined;
}

/** Options with their defaults. */
export interface ReadAiSdkOptions {
  readonly approvals: 'ours' | 'sdk';
  readonly failures: 'results' | 'errors';
  readonly defer: 'ours' | undefined;
  /** Names of the tools that are shown; undefined for all. */
  readonly names: readonly string[] | undefined;
}

const where = 'toAiSdkTools';
const definitions = 'an array of definitions';
const table = {
  approvals: withDefault(oneOf('ours', 'sdk'), 'ours'),
  failures: withDefault(oneOf('results', 'errors'), 'results'),
  defer: oneOf('ours'),
  tools: array<AnyTool>(definitions),
} satisfies TableOf<AiSdkOptions>;

/** @throws MisuseError `invalid_option`, `unknown_tool` */
export function readAiSdkOptions(
  session: ToolSession,
  options: AiSdkOptions | undefined,
): ReadAiSdkOptions {
  const { approvals, failures, defer, tools } = readOptions(where, options, table);
  if (approvals === 'sdk' && inspectSession(session).hasApprover)
    throw new MisuseError(
      'invalid_option',
      'toAiSdkTools: expected a session without an approver for `approvals: "sdk"`, because ' +
        'both would be asked. Remove the approver, or leave `approvals` at "ours".',
    );
  const names =
    tools === undefined ? undefined : reading(where, 'tools', () => namesOf(session, tools));
  return { approvals, failures, defer, names };
}

function namesOf(session: ToolSession, tools: readonly AnyTool[]): readonly string[] {
  const view = inspectSession(session);
  return tools.map((tool) => {
    if (typeof tool !== 'object' || tool === null || typeof tool.name !== 'string')
      throw wrongOption(where, 'tools', definitions, tool);
    if (view.definition(tool.name) === undefined)
      throw new MisuseError(
        'unknown_tool',
        `toAiSdkTools: expected \`tools\` to contain definitions of this session's tools, got ` +
          `\`${tool.name}\`, which the session does not know. Register it first.`,
      );
    return tool.name;
  });
}
