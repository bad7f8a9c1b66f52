/** A session's effective tools as the AI SDK's `ToolSet`. */
import {
  type AnyTool,
  MisuseError,
  type Surface,
  serializeOutput,
  type ToolResult,
  type ToolSession,
} from '../../index.ts';
import { readArguments } from '../../surface-port.ts';
import {
  type Dialect,
  type Listing,
  listingOf,
  type ShownTool,
  type SurfaceWarning,
} from '../shared/listing.ts';
import { takeDenials } from './asked.ts';
import { execute, needsApproval, type Run } from './execute.ts';
import { failureError } from './failure.ts';
import { markedResult, modelOutput } from './model-output.ts';
import { type AiSdkToolSet, typedName } from './named-tools.ts';
import { type AiSdkOptions, type ReadAiSdkOptions, readAiSdkOptions } from './options.ts';
import { withPreliminary, yields } from './preliminary.ts';
import { wrapSchema } from './schema.ts';
import type { AiSdkResult, AiSdkTool } from './tool.ts';

/** What the SDK is given. Frozen, and the same object until the effective tools change. */
export interface AiSdkTools<Tools extends readonly AnyTool[] | undefined = undefined> {
  /**
   * For `tools` of `generateText`, `streamText` and agents. Without a prototype, so that a model's
   * call of `constructor` finds nothing.
   */
  readonly tools: AiSdkToolSet<Tools>;
  /** Shown name to tool name. */
  readonly nameMap: ReadonlyMap<string, string>;
  /** Always empty: the schemas are shown unchanged. */
  readonly warnings: readonly SurfaceWarning[];
  /**
   * For the SDK's `repairToolCall` (`experimental_repairToolCall` in version 6): mends nothing, but
   * puts calls on the session's record that the SDK never brings to a tool, and answers them in the
   * session's words: unknown names, arguments that are no JSON.
   */
  readonly repairToolCall: (attempt: {
    readonly toolCall: {
      readonly toolCallId: string;
      readonly toolName: string;
      readonly input: string;
    };
  }) => Promise<null>;
  /**
   * Tells the session which approvals people refused; the SDK answers such calls without a word to
   * the tool, and they would wait until they expire. Give it the messages before a run. With
   * `approvals: "sdk"` it also happens at each call.
   */
  readonly takeDenials: (messages: readonly unknown[]) => Promise<void>;
}

const dialect: Dialect = { convert: (schema) => ({ schema, losses: [] }) };
const made = new WeakMap<Listing, Map<string, AiSdkTools>>();

/**
 * Shows a session's effective tools to the AI SDK, version 6 or 7. A failed call is a result with
 * an error text for the model.
 * @throws MisuseError `invalid_option` for unknown options, for `approvals: "sdk"` on a session
 * that has an approver, and for a definition in `tools` that is shown under another name than its
 * type says; `unknown_tool` for one that the session does not know.
 *
 * @example
 * ```ts
 * import { generateText, type LanguageModel, stepCountIs } from 'ai';
 * import { toAiSdkTools } from 'host-tools/ai-sdk';
 *
 * declare const model: LanguageModel; // yours
 * // `add` types the results. Leave `tools` out to show every tool of the session, untyped.
 * const { tools, repairToolCall } = toAiSdkTools(session, { tools: [add] });
 * const { text } = await generateText({
 *   model,
 *   tools,
 *   prompt: 'What is 1 + 2?',
 *   stopWhen: stepCountIs(5),
 *   experimental_repairToolCall: repairToolCall,
 * });
 * ```
 */
export function toAiSdkTools<const Tools extends readonly AnyTool[] | undefined = undefined>(
  session: ToolSession,
  options?: AiSdkOptions<Tools>,
): AiSdkTools<Tools> {
  const read = readAiSdkOptions(session, options);
  const listing = listingOf(session, dialect);
  const known = made.get(listing) ?? new Map<string, AiSdkTools>();
  made.set(listing, known);
  const key = JSON.stringify(read);
  const set = known.get(key) ?? makeSet(session, listing, read);
  known.set(key, set);
  return set as AiSdkTools<Tools>;
}

function makeSet(
  session: ToolSession,
  listing: Listing,
  { approvals, failures, names }: ReadAiSdkOptions,
): AiSdkTools {
  const surface: Surface = Object.freeze({ name: 'ai-sdk', shownName: listing.shownName });
  const run: Run = { session, approvals, surface, seen: new WeakMap(), tagged: false };
  const shown = names === undefined ? listing.shown : chosen(listing, names);
  // Without a prototype: version 6 looks names up without asking whose they are.
  const tools: Record<string, AiSdkTool> = Object.create(null) as Record<string, AiSdkTool>;
  for (const one of shown) tools[one.name] = toTool(run, one, failures, names !== undefined);
  return Object.freeze({
    tools: Object.freeze(tools),
    nameMap:
      names === undefined
        ? listing.nameMap
        : new Map(shown.map(({ name, tool }) => [name, tool.name])),
    warnings: listing.warnings,
    repairToolCall: (attempt) => recordUnseen(session, listing, surface, attempt.toolCall),
    takeDenials: (messages) => takeDenials(session, messages, true),
  } satisfies AiSdkTools);
}

/**
 * The tools of these names, in effective order. A name that the types get wrong would make a lie of
 * every result.
 */
function chosen({ shown, shownName }: Listing, names: readonly string[]): readonly ShownTool[] {
  for (const name of names)
    if (shownName(name) !== typedName(name))
      throw new MisuseError(
        'invalid_option',
        `toAiSdkTools: \`${name}\` is shown as \`${shownName(name)}\`, since it is too long ` +
          `or another tool's name is in the way, and \`tools\` would type it as ` +
          `\`${typedName(name)}\`. Leave it out, or rename it.`,
      );
  return shown.filter(({ tool }) => names.includes(tool.name));
}

function toTool(
  run: Run,
  { tool }: ShownTool,
  failures: 'results' | 'errors',
  typed: boolean,
): AiSdkTool {
  const { name, description, title, source, annotations, outputSchema } = tool;
  const { session } = run;
  const declared = outputSchema !== undefined;
  const finished = (result: ToolResult): AiSdkResult => {
    if (failures === 'errors' && !result.success)
      throw failureError(serializeOutput(result), result);
    return markedResult(result);
  };
  return Object.freeze({
    ...(typed ? {} : { type: 'dynamic' }),
    description,
    ...(title === undefined ? {} : { title }),
    metadata: { hostTool: { name, source, annotations: { ...annotations } } },
    inputSchema: wrapSchema(tool.inputSchema),
    ...(run.approvals === 'sdk'
      ? { needsApproval: (input, call) => needsApproval(run, tool, input, call) }
      : {}),
    execute: (input, call) => {
      const running = (): Promise<AiSdkResult> => execute(run, tool, input, call).then(finished);
      return yields(session, name) ? withPreliminary(session, call.toolCallId, running) : running();
    },
    toModelOutput: ({ output }) => modelOutput(output, declared, run.tagged),
  } satisfies Omit<AiSdkTool, 'type'>) as AiSdkTool;
}

/** Never runs anything: the SDK has no place for a result here, only for an error. */
async function recordUnseen(
  session: ToolSession,
  { known }: Listing,
  surface: Surface,
  {
    toolCallId: callId,
    toolName,
    input,
  }: { readonly toolCallId: string; readonly toolName: string; readonly input: string },
): Promise<null> {
  const name = known.get(toolName) ?? toolName;
  const sent = input.trim() === '' ? {} : readArguments(input);
  // Arguments that can be read could be run, and tools that came since are not known here; the
  // SDK's own words serve there.
  if (session.tool(name) !== undefined && (known.get(toolName) === undefined || sent !== input))
    return null;
  const result = await session.call(name, sent, { callId, surface });
  if (result.success) return null;
  // The SDK writes its own words before the message, that it is an error among them.
  throw failureError(serializeOutput(result).replace(/^Error: /, ''), result);
}
