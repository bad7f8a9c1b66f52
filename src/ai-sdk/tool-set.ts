/** A session's effective tools as the AI SDK's `ToolSet`. */
import { type HostTool, MisuseError, serializeOutput, type ToolResult, type ToolSession } from '../index.ts';
import { idsInFlight, readArguments, stateOf } from '../internal.ts';
import { type Dialect, type Listing, listingOf, type ShownTool, type SurfaceWarning } from '../shown/listing.ts';
import { askAbout, takeAnswer, takeDenials } from './asked.ts';
import { isReplayed } from './messages.ts';
import { markedResult, modelOutput } from './model-output.ts';
import { wrapSchema } from './schema.ts';
import type { AiSdkCall, AiSdkTool } from './tool.ts';

/** How {@link toAiSdkTools} deals with approvals. */
export interface AiSdkOptions {
  /**
   * `ours`: nothing pauses the SDK. The session's approver is awaited, or the call ends as `approval_pending` and the host resumes it.
   * `sdk`: the SDK pauses where the gates ask, and what it reports is the approver's answer. A session that has an approver of its own cannot be used so.
   * @default "ours"
   */
  readonly approvals?: 'ours' | 'sdk' | undefined;
}

/** What the SDK is given. Frozen, and the same object until the effective tools change. */
export interface AiSdkTools {
  /** For `tools` of `generateText`, `streamText` and agents. Without a prototype, so that a model's call of `constructor` finds nothing. */
  readonly tools: { readonly [name: string]: AiSdkTool };
  /** Shown name to tool name. */
  readonly nameMap: ReadonlyMap<string, string>;
  /** Always empty: the schemas are shown unchanged. */
  readonly warnings: readonly SurfaceWarning[];
  /**
   * For the SDK's `repairToolCall` (`experimental_repairToolCall` in version 6): mends nothing, but puts calls on the session's record that the SDK never brings to a tool, and answers
   * them in the session's words: unknown names, arguments that are no JSON.
   */
  readonly repairToolCall: (attempt: {
    readonly toolCall: { readonly toolCallId: string; readonly toolName: string; readonly input: string };
  }) => Promise<null>;
  /**
   * Tells the session which approvals people refused; the SDK answers such calls without a word to the tool, and they would wait until they expire. Give it the messages before a run. With
   * `approvals: "sdk"` it also happens at each call.
   */
  readonly takeDenials: (messages: readonly unknown[]) => Promise<void>;
}

const dialect: Dialect = { convert: (schema) => ({ schema, losses: [] }) };
const made = new WeakMap<Listing, Map<'ours' | 'sdk', AiSdkTools>>();

/**
 * Shows a session's effective tools to the AI SDK, version 6 or 7. A failed call is a result with an error text for the model.
 * @throws MisuseError `invalid_option` for unknown options, and for `approvals: "sdk"` on a session that has an approver.
 */
export function toAiSdkTools(session: ToolSession, options: AiSdkOptions = {}): AiSdkTools {
  const { approvals = 'ours' } = options;
  if (approvals !== 'ours' && approvals !== 'sdk')
    throw new MisuseError('invalid_option', `toAiSdkTools: expected \`approvals\` to be "ours" or "sdk", got \`${String(approvals)}\`.`);
  if (approvals === 'sdk' && stateOf(session).setup.approver !== undefined)
    throw new MisuseError(
      'invalid_option',
      'toAiSdkTools: the session has an approver, which would be asked as well. Leave `approvals` at "ours", or the approver out.',
    );
  const listing = listingOf(session, dialect);
  const known = made.get(listing) ?? new Map<'ours' | 'sdk', AiSdkTools>();
  made.set(listing, known);
  const before = known.get(approvals);
  if (before !== undefined) return before;
  const run: Run = { session, approvals, seen: new WeakMap(), tagged: false };
  // Without a prototype: version 6 looks names up without asking whose they are.
  const tools: Record<string, AiSdkTool> = Object.create(null) as Record<string, AiSdkTool>;
  for (const shown of listing.shown) tools[shown.name] = toTool(run, shown);
  const set: AiSdkTools = {
    tools: Object.freeze(tools),
    nameMap: listing.nameMap,
    warnings: listing.warnings,
    repairToolCall: (attempt) => recordUnseen(session, listing, attempt.toolCall),
    takeDenials: (messages) => takeDenials(session, messages, true),
  };
  known.set(approvals, Object.freeze(set));
  return set;
}

interface Run {
  readonly session: ToolSession;
  readonly approvals: 'ours' | 'sdk';
  /** Call ids that were seen of each model answer; the SDK hands every call of one the same messages. */
  readonly seen: WeakMap<object, Set<string>>;
  /** Version 7 or later called. Files are shown to it as it wants them; version 6 knows only the older form, which both read. */
  tagged: boolean;
}

function toTool(run: Run, { tool }: ShownTool): AiSdkTool {
  const { name, description, title, source, annotations, outputSchema } = tool;
  const declared = outputSchema !== undefined;
  return Object.freeze({
    type: 'dynamic',
    description,
    ...(title === undefined ? {} : { title }),
    metadata: { hostTool: { name, source, annotations: { ...annotations } } },
    inputSchema: wrapSchema(tool.inputSchema),
    ...(run.approvals === 'sdk' ? { needsApproval: (input, call) => needsApproval(run, tool, input, call) } : {}),
    execute: async (input, call) => markedResult(await execute(run, tool, input, call)),
    toModelOutput: ({ output }) => modelOutput(output, declared, run.tagged),
  } satisfies AiSdkTool);
}

async function execute(run: Run, { name }: HostTool, given: unknown, call: AiSdkCall): Promise<ToolResult> {
  const { session, approvals } = run;
  const { toolCallId: callId, messages, abortSignal: signal } = call;
  run.tagged ||= 'experimental_sandbox' in call;
  const input = readArguments(given);
  if (approvals === 'sdk') {
    await takeDenials(session, messages ?? [], false);
    const answered = await takeAnswer({ session, name, input, callId }, isReplayed(messages, callId), signal);
    if (answered !== undefined) return answered;
  }
  const options = { callId, signal, surface };
  return standsTwice(run, call) ? holding(session, callId, () => session.call(name, input, options)) : session.call(name, input, options);
}

const surface = Object.freeze({ name: 'ai-sdk' });

async function needsApproval({ session }: Run, { name }: HostTool, given: unknown, { toolCallId: callId, messages }: AiSdkCall): Promise<boolean> {
  await takeDenials(session, messages ?? [], false);
  // What the messages say was approved is for `execute` to take or to refuse. Nothing is asked on their word.
  if (isReplayed(messages, callId)) return true;
  const input = readArguments(given);
  const { decision, steps } = await session.explain(name, input);
  // A standing answer meets the question.
  if (decision?.effect !== 'ask' || steps.some(({ stage }) => stage === 'approval')) return false;
  return askAbout({ session, name, input, callId });
}

/** Whether the model gave two calls of one answer the same id. */
function standsTwice({ seen }: Run, { messages, toolCallId }: AiSdkCall): boolean {
  if (messages === undefined) return false;
  const ids = seen.get(messages) ?? new Set<string>();
  seen.set(messages, ids);
  if (ids.has(toolCallId)) return true;
  ids.add(toolCallId);
  return false;
}

/** Makes a call while its id is taken, also where the first of that id has ended: it is refused as a duplicate. */
function holding(session: ToolSession, callId: string, call: () => Promise<ToolResult>): Promise<ToolResult> {
  const state = stateOf(session);
  state.ids ??= idsInFlight(state);
  const free = !state.ids.has(callId);
  if (free) state.ids.set(callId, undefined);
  const result = call();
  if (free) state.ids.delete(callId);
  return result;
}

/** Never runs anything: the SDK has no place for a result here, only for an error. */
async function recordUnseen(
  session: ToolSession,
  { known }: Listing,
  { toolCallId: callId, toolName, input }: { readonly toolCallId: string; readonly toolName: string; readonly input: string },
): Promise<null> {
  const name = known.get(toolName) ?? toolName;
  const there = session.tool(name) !== undefined;
  // The SDK refuses some JSON that could be run, and does not know tools that came since; its own words serve there.
  if (there && (known.get(toolName) === undefined || readArguments(input) !== input)) return null;
  const result = await session.call(name, there ? input : {}, { callId, surface });
  throw new Error(serializeOutput(result));
}
