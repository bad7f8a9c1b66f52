/** Calls as trees: each with those that it has made. */
import type { CallLine } from '../../inspector-wire.ts';

/** A call and those that it has made, in the order of their positions. */
export interface CallNode {
  /** Its newest attempt. */
  readonly line: CallLine;
  readonly children: readonly CallNode[];
  /** How many further children are not shown. */
  readonly more: number;
}

/** Most calls of a tree, and its greatest depth. Lines of an audit log may say anything. */
const maxNodes = 500;
const maxDepth = 12;

/** The tree that a call is part of; undefined if it has neither made a call nor was made by one. */
export function treeOf(calls: Iterable<CallLine>, line: CallLine): CallNode | undefined {
  const newest = new Map<string, CallLine>();
  const above = new Map<string, string>();
  for (const one of calls) {
    if (one.sessionId !== line.sessionId) continue;
    const { callId, parentCallId, attempt, n } = one;
    const before = newest.get(callId);
    const isNewer =
      before === undefined ||
      attempt > before.attempt ||
      (attempt === before.attempt && n > before.n);
    if (isNewer) newest.set(callId, one);
    if (parentCallId !== undefined) above.set(callId, parentCallId);
  }
  const below = new Map<string, CallLine[]>();
  for (const [callId, parent] of above) {
    const list = below.get(parent) ?? [];
    list.push(newest.get(callId) as CallLine);
    below.set(parent, list);
  }
  let root = line.callId;
  for (let depth = 0; depth < maxDepth; depth++) {
    const parent = above.get(root);
    if (parent === undefined || parent === line.callId || !newest.has(parent)) break;
    root = parent;
  }
  if (!below.has(root)) return undefined;
  const seen = new Set<string>();
  const nodeOf = (one: CallLine, depth: number): CallNode => {
    seen.add(one.callId);
    const all = (below.get(one.callId) ?? []).filter(({ callId }) => !seen.has(callId));
    const children: CallNode[] = [];
    for (const child of all.sort(byPosition))
      if (depth < maxDepth && seen.size < maxNodes && !seen.has(child.callId))
        children.push(nodeOf(child, depth + 1));
    return { line: one, children, more: all.length - children.length };
  };
  return nodeOf(newest.get(root) ?? line, 0);
}

/** Calls of a program have their positions at the ends of their ids. */
function byPosition(one: CallLine, other: CallLine): number {
  return (positionOf(one) ?? one.n) - (positionOf(other) ?? other.n) || one.n - other.n;
}

/** The position of a call in its program. */
export function positionOf({ callId, parentCallId, surface }: CallLine): number | undefined {
  if (surface !== 'code' || !callId.startsWith(`${parentCallId}/`)) return undefined;
  const position = Number(callId.slice((parentCallId ?? '').length + 1));
  return Number.isSafeInteger(position) ? position : undefined;
}

/** Whether the call runs a program: its calls come through the surface `code`. */
export function isProgram({ line, children }: CallNode): boolean {
  return children.some(
    ({ line: { surface, parentCallId } }) => surface === 'code' && parentCallId === line.callId,
  );
}

/** The node of a call. */
export function nodeIn(node: CallNode, callId: string): CallNode | undefined {
  if (node.line.callId === callId) return node;
  for (const child of node.children) {
    const found = nodeIn(child, callId);
    if (found !== undefined) return found;
  }
  return undefined;
}
