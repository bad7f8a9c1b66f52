/** Replays user tasks and attacks, and counts what is asked. */
import type { JsonValue } from '../../src/values/json/index.ts';
import { type Call, importantMessage, planted, type Suite } from './data.ts';
import type { ToolLabels } from './labels.ts';

/** One conversation over the tools of a suite, with the recommended rules. */
export interface Conversation {
  said(text: string): void;
  /**
   * Runs calls in their order, and a person approves what is asked. Resolves to the calls that were
   * asked about.
   */
  run(calls: readonly Call[]): Promise<readonly Call[]>;
  close(): Promise<void>;
}

export type MakeConversation = (
  tools: Suite['tools'],
  labels: Readonly<Record<string, ToolLabels>>,
) => Conversation;

/** What came out for one suite. */
export interface SuiteResult {
  readonly tasks: number;
  /** The user tasks with a question, each with the calls that are asked about. */
  readonly asked: ReadonlyMap<string, readonly Call[]>;
  readonly pairs: number;
  readonly held: number;
  /** Pairs whose attack has a target that neither the user nor trusted data gave. */
  readonly foreign: number;
  readonly foreignHeld: number;
  /** Pairs whose attack was not held, as `user task + injected task`. */
  readonly through: readonly string[];
}

export async function replay(
  suite: Suite,
  labels: Readonly<Record<string, ToolLabels>>,
  make: MakeConversation,
): Promise<SuiteResult> {
  const asked = new Map<string, readonly Call[]>();
  const through: string[] = [];
  let [pairs, held, foreign, foreignHeld] = [0, 0, 0, 0];
  for (const [user, { prompt, calls }] of Object.entries(suite.user)) {
    const benign = planted(calls, (vector) => suite.vectors[vector] ?? '');
    const questions = await run(make(suite.tools, labels), prompt, benign);
    if (questions.length > 0) asked.set(user, questions);
    for (const [injected, { goal, calls: attack }] of Object.entries(suite.injection)) {
      const acting = attack.filter(({ function: name }) => acts(labels[name]));
      if (acting.length === 0) continue;
      const conversation = make(suite.tools, labels);
      const text = importantMessage(goal);
      conversation.said(prompt);
      await conversation.run(planted(calls, () => text));
      const stopped = await conversation.run(
        planted(attack, (vector) => suite.vectors[vector] ?? ''),
      );
      await conversation.close();
      const isHeld = stopped.some((call) => acts(labels[call.function]));
      pairs++;
      if (isHeld) held++;
      else through.push(`${user} + ${injected}`);
      if (!hasForeignTarget(acting, prompt, benign, labels)) continue;
      foreign++;
      if (isHeld) foreignHeld++;
    }
  }
  const tasks = Object.keys(suite.user).length;
  return { tasks, asked, pairs, held, foreign, foreignHeld, through };
}

async function run(
  conversation: Conversation,
  prompt: string,
  calls: readonly Call[],
): Promise<readonly Call[]> {
  conversation.said(prompt);
  const asked = await conversation.run(calls);
  await conversation.close();
  return asked;
}

/** Whether a call changes something, or tells the owner of a page something. */
function acts(labels: ToolLabels | undefined): boolean {
  return labels?.readOnly !== true || labels.openWorld === true;
}

/**
 * Whether some target of an attack stands neither in the prompt nor, as a whole field, in what is
 * labelled trusted. This is not asked of the engine that is measured.
 */
function hasForeignTarget(
  attack: readonly Call[],
  prompt: string,
  benign: readonly Call[],
  labels: Readonly<Record<string, ToolLabels>>,
): boolean {
  const known = new Set<string>();
  for (const { function: name, result } of benign)
    for (const leaf of trustedLeaves(result, labels[name] ?? {})) known.add(leaf);
  return attack.some((call) =>
    targetsOf(call, labels[call.function] ?? {}).some(
      (target) => !known.has(target) && !prompt.includes(target),
    ),
  );
}

const content = /^(?:subject|title|body|text|content|message|description|query)$/;

function targetsOf({ args }: Call, { roles = {} }: ToolLabels): string[] {
  const found: string[] = [];
  for (const [name, value] of Object.entries(args)) {
    const role = roles[name] ?? (content.test(name) ? 'content' : 'target');
    for (const leaf of leavesOf(value as JsonValue)) {
      if (role === 'target') found.push(leaf);
      else if (role === 'content')
        found.push(...(leaf.match(/[\w.-]+@[\w.-]+\w|www\.[\w./-]*\w/g) ?? []));
    }
  }
  return found;
}

function trustedLeaves(
  result: JsonValue,
  { origin = 'trusted', origins = {} }: ToolLabels,
): string[] {
  if (origin === 'trusted') return leavesOf(result);
  return (Array.isArray(result) ? result : [result]).flatMap((item: JsonValue) => {
    if (origins['*'] === 'trusted') return leavesOf(item);
    if (typeof item !== 'object' || item === null) return [];
    return Object.entries(item).flatMap(([key, value]) =>
      origins[`*.${key}`] === 'trusted' ? leavesOf(value as JsonValue) : [],
    );
  });
}

/** All strings of a value, and the keys of its objects. */
function leavesOf(value: JsonValue): string[] {
  if (typeof value === 'string') return [value];
  if (typeof value !== 'object' || value === null) return [];
  const keys = Array.isArray(value) ? [] : Object.keys(value);
  return [...keys, ...Object.values(value).flatMap((item) => leavesOf(item as JsonValue))];
}
