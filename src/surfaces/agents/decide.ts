/** Decides about one event of a coding agent. */
import { resolve } from 'node:path';
import { registryStateOf } from '../../core/registry/state-of.ts';
import {
  type AnyTool,
  type Approver,
  type HostToolRegistry,
  isMisuseError,
  type ToolError,
  type ToolSession,
} from '../../core.ts';
import { inspectRegistry, inspectSession } from '../../extend.ts';
import type { JsonObject } from '../../values/json/index.ts';
import type { AuditLog, AuditOptions } from '../audit/index.ts';
import type { Agent, AgentEvent, Answer, CallAbout } from './agent.ts';
import { agentTool, mcpTool, type Told } from './agent-tools.ts';
import { HookFault, memberOf, type ReadEvent } from './event.ts';
import { matched } from './matched.ts';
import type { Place } from './place.ts';
import type { Entry, SessionFile } from './state/session-file.ts';

/** What is needed to judge an event. */
export interface HookWorld {
  readonly agent: Agent;
  /** It has the rules, quotas and tools of the files. */
  readonly registry: HostToolRegistry;
  /** The files, for messages. */
  readonly files: readonly string[];
  readonly place: Place;
  readonly principal: string;
  readonly session: SessionFile;
  /** Opens the audit log when it is this hook's turn; undefined if there is no log. */
  readonly audit: ((options: AuditOptions) => Promise<AuditLog>) | undefined;
}

/** Most characters of an output that are remembered. */
const maxOutputChars = 1_000_000;

const nothing: Answer = { effect: 'none', reason: '' };

/** Judges an event. @throws HookFault */
export async function decide(given: HookWorld, { event, sessionId }: ReadEvent): Promise<Answer> {
  if (event.kind === 'other') return nothing;
  const facts = new Map<string, JsonObject>();
  const world: Judging = {
    ...(event.kind === 'said' ? given : inFolder(given, event.about)),
    told: (member, known) => facts.set(member, known),
  };
  const unasked = event.kind === 'before' ? nobodyAsked(given.agent, event.unasked) : undefined;
  const why = (ruleId: string | undefined): string =>
    event.kind !== 'before' || ruleId === undefined
      ? ''
      : matched(registryStateOf(given.registry).rules.all(), ruleId, { ...event.about, facts });
  const entries = await world.session.read();
  let question: string | undefined;
  const approver: Approver = ({ title, message, ruleId }) => {
    const rule = ruleId === undefined ? '' : ` (rule \`${ruleId}\`)`;
    question = [title + rule, message, why(ruleId)].filter((text) => !!text).join('\n');
    // What the user answers is known only when the call has ended, if then.
    return unasked === undefined
      ? { decision: 'allow_once', by: `${world.agent.title}, which asks its user` }
      : 'reject_once';
  };
  const session = world.registry.createSession({
    sessionId,
    cwd: world.place.cwd,
    principal: world.principal,
    approver,
  });
  const remembers = remembering(session);
  if (event.kind === 'said') {
    if (remembers) await world.session.add({ said: event.text }, true);
    return nothing;
  }
  if (event.kind === 'after') {
    await end(world, session, event, entries, remembers);
    return nothing;
  }
  const { about } = event;
  if (toolFor(world, about.tool) === undefined)
    return { ...unknownTool(world, about.tool), toQuestion: event.kind === 'asks' };
  if (remembers) replay(world, session, entries);
  if (event.kind === 'asks') return answerTo(session, event);
  const { answer, callId } = await ask(world, session, about, {
    question: () => question,
    why,
    unasked,
  });
  if (answer.effect !== 'deny') {
    const asked = answer.effect === 'ask';
    const id = about.id === undefined && callId !== undefined ? { id: callId } : {};
    await world.session.add({ began: keyOf(about), asked, ...id }, true);
  }
  return answer;
}

/** Some tools name the folder in which they work. Their paths are relative to it. */
function inFolder(world: HookWorld, { tool, input }: CallAbout): HookWorld {
  const { folder } = world.agent.tools.find(({ name }) => name === tool) ?? {};
  const named = folder === undefined ? undefined : memberOf(input, folder);
  if (typeof named !== 'string') return world;
  return { ...world, place: { ...world.place, cwd: resolve(world.place.cwd, named) } };
}

/**
 * Answers the question that the agent is about to ask. The call itself was or will be judged by its
 * own event, so it spends nothing here and has no line in the log.
 */
async function answerTo(
  session: ToolSession,
  { about, isWider }: Extract<AgentEvent, { kind: 'asks' }>,
): Promise<Answer> {
  const { decision, ruleId } = await session.explain(about.tool, about.input);
  const effect = decision?.effect ?? 'deny';
  if (ruleId === undefined && decision !== undefined) return nothing;
  if (effect === 'ask' || (effect === 'allow' && isWider)) return nothing;
  const by = ruleId === undefined ? 'The call cannot be judged.' : `By the rule \`${ruleId}\`.`;
  return { effect, reason: by, toQuestion: true };
}

/** A world in which the facts about the call are heard. */
interface Judging extends HookWorld {
  readonly told: Told;
}

/** What one decision needs to ask, or to say why it does not. */
interface Asking {
  /** The question that was asked. */
  readonly question: () => string | undefined;
  /** What about the call made a rule match. */
  readonly why: (ruleId: string | undefined) => string;
  /** Why nobody is asked; undefined if somebody is. */
  readonly unasked: string | undefined;
}

/** Why the agent would ask nobody, if a hook said that it should. */
function nobodyAsked({ canAsk, title }: Agent, mode: string | undefined): string | undefined {
  if (!canAsk) return `${title} cannot ask a person here.`;
  return mode === undefined
    ? undefined
    : `In its mode \`${mode}\`, ${title} does not ask a person.`;
}

/** Takes the call through all gates. The id is that of an allowed call in the audit log. */
async function ask(
  { audit, registry }: HookWorld,
  session: ToolSession,
  { tool, input, id }: CallAbout,
  { question, why, unasked }: Asking,
): Promise<{ readonly answer: Answer; readonly callId?: string }> {
  let callId: string;
  const log = await audit?.({ required: true });
  try {
    const detach = log?.attach(registry);
    const permission = await session.authorize(tool, input, id === undefined ? {} : { callId: id });
    // The outcome of the call is unknown here.
    if (permission.allowed) detach?.();
    if (!permission.allowed) {
      const asks = question();
      const { error } = permission.result;
      const reason =
        asks === undefined || unasked === undefined
          ? [refusal(error), why(ruleOf(error))].filter((text) => text !== '').join('\n')
          : `${asks}\n${unasked} So the call is denied.`;
      return { answer: { effect: 'deny', reason } };
    }
    callId = permission.callId;
  } finally {
    await log?.close();
  }
  const asked = question();
  if (asked !== undefined) return { answer: { effect: 'ask', reason: asked }, callId };
  const mayAllow = inspectRegistry(registry).rules.some(({ effect }) => effect === 'allow');
  if (!mayAllow) return { answer: nothing, callId };
  const { decision, ruleId } = await session.explain(tool, input);
  const answer: Answer =
    decision?.effect === 'allow' && ruleId !== undefined
      ? { effect: 'allow', reason: `Allowed by the rule \`${ruleId}\`.` }
      : nothing;
  return { answer, callId };
}

/** Records how a call has ended. */
async function end(
  world: HookWorld,
  session: ToolSession,
  { about, output, error }: Extract<AgentEvent, { kind: 'after' }>,
  entries: readonly Entry[],
  remembers: boolean,
): Promise<void> {
  const { tool, input, id } = about;
  const key = keyOf(about);
  const began = firstOpen(entries, key);
  const approved = began?.asked === true;
  const value = error ?? output;
  const isShort = JSON.stringify(value).length <= maxOutputChars;
  const kept = remembers && isShort ? { output: value } : {};
  await world.session.add({ ended: key, tool, input, approved, ...kept }, false);
  if (world.audit === undefined || toolFor(world, tool) === undefined) return;
  const callId = id ?? began?.id;
  const permission = await session.authorize(tool, input, callId === undefined ? {} : { callId });
  // The rules may have changed since then, but the call did run.
  if (!permission.allowed) return;
  const log = await world.audit({});
  try {
    log.attach(world.registry);
    await permission.settle(error === undefined ? { output } : { error });
  } finally {
    await log.close();
  }
}

/** The first call with this name that has begun and not ended. */
function firstOpen(entries: readonly Entry[], key: string) {
  const ended = entries.filter((entry) => 'ended' in entry && entry.ended === key).length;
  const began = entries.filter((entry) => 'began' in entry).filter((entry) => entry.began === key);
  return began[ended];
}

/**
 * The definition of a tool: that of a file, or else the agent's own, which is registered when it is
 * needed, because a hook judges only one call. Tools of MCP servers are recognised by their names.
 */
function toolFor(
  { agent, registry, place, told }: HookWorld & { readonly told?: Told },
  name: string,
): AnyTool | undefined {
  const known = registry.get(name);
  if (known !== undefined) return known as AnyTool;
  const row = agent.tools.find((one) => one.name === name);
  if (row === undefined && !agent.mcpNames.test(name)) return undefined;
  const isTested = inspectRegistry(registry).testsOrigins;
  try {
    const made =
      row === undefined ? mcpTool(name) : agentTool(row, () => place, isTested, undefined, told);
    registry.register(made as never);
    return made;
  } catch (error) {
    if (isMisuseError(error)) return undefined;
    throw error;
  }
}

function unknownTool({ agent, files }: HookWorld, name: string): Answer {
  const shown = JSON.stringify(name.slice(0, 100));
  return {
    effect: 'deny',
    reason:
      `host-tools does not know the tool ${shown} of ${agent.title}. To let it be judged by the ` +
      `rules, add it to \`tools\` in ${files.join(' or ')}: ` +
      `{ name: ${shown}, description: "…", external: true }`,
  };
}

/** Whether some rule tests the origins of values. */
function remembering(session: ToolSession): boolean {
  return inspectSession(session).remembersTexts;
}

/** Remembers what earlier hooks of the session have recorded. */
function replay(world: HookWorld, session: ToolSession, entries: readonly Entry[]): void {
  const view = inspectSession(session);
  for (const entry of entries) {
    if ('said' in entry) session.said(entry.said);
    if (!('ended' in entry)) continue;
    const { tool, input, output, approved, ended } = entry;
    if (toolFor(world, tool) === undefined) continue;
    if (approved) confirm(session, tool, input);
    if (output !== undefined) view.seen(tool, output, { callId: ended, input });
  }
}

/** Values that a person has approved are known from then on, except for secrets. */
function confirm(session: ToolSession, tool: string, input: JsonObject): void {
  const view = inspectSession(session);
  for (const { role, value } of session.originOf(tool, input))
    if (role === 'target') view.approved(value, 'the user');
}

/** Names a call in the state. For agents that give no id, equal calls have the same name. */
function keyOf({ id, tool, input }: CallAbout): string {
  return id ?? JSON.stringify([tool, input]);
}

/** The text of a fault for a person. */
export function faultText(error: unknown): string {
  return error instanceof HookFault || isMisuseError(error)
    ? error.message
    : `Something failed: ${error instanceof Error ? error.message : String(error)}`;
}

// Why a call was refused, as a text for the model and the person.

/** The message of an error, and the rule that it comes from. */
export function refusal(error: ToolError | undefined): string {
  if (error === undefined) return 'The call was refused.';
  const { message, ruleId } = error as ToolError & { readonly ruleId?: string };
  return ruleId === undefined || message.includes(ruleId)
    ? message
    : `${message} (rule \`${ruleId}\`)`;
}

/** The rule that an error comes from; undefined if it comes from none. */
function ruleOf(error: ToolError | undefined): string | undefined {
  return (error as (ToolError & { readonly ruleId?: string }) | undefined)?.ruleId;
}
