/** The values of zod intersections. */
import { isJsonObject, type JsonObject, type JsonValue } from '../json/index.ts';
import { define } from '../json/value.ts';
import type { Node } from './zod-checks.ts';

/** Nothing is known. */
export const anything: Node = Object.freeze({});

/** Most pairs of schemas that one intersection is made of. Recursive ones have no end. */
const mostPairs = 256;

/**
 * The values that fit both sides. zod reads an object for each side and merges what they keep, so
 * a member that one side drops is there if the other has it.
 */
export function bothOf(left: Node, right: Node, budget = { left: mostPairs }): Node {
  if (--budget.left < 0) return anything;
  const [a, b] = [plainOf(left), plainOf(right)];
  if (a === undefined || b === undefined) return anything;
  for (const [one, other] of [
    [a, b],
    [b, a],
  ] as const) {
    if (!Array.isArray(one.anyOf)) continue;
    const branches = one.anyOf as readonly Node[];
    return { anyOf: branches.map((branch) => bothOf(branch, other, budget)) };
  }
  if (isObjectNode(a) && isObjectNode(b)) return mergedOf(a, b, budget);
  return isScalarNode(a) && isScalarNode(b) ? { allOf: [a, b] } : anything;
}

function mergedOf(a: Node, b: Node, budget: { left: number }): Node {
  const properties: Record<string, JsonValue> = {};
  const [ours, theirs] = [a.properties as JsonObject, b.properties as JsonObject];
  for (const key of new Set([...Object.keys(ours), ...Object.keys(theirs)])) {
    const parts = [ours, theirs].filter((one) => Object.hasOwn(one, key)).map((one) => one[key]);
    const [first, second] = parts as Node[];
    const both = second === undefined ? first : bothOf(first as Node, second, budget);
    define(properties, key, both as JsonValue);
  }
  const closed = a.additionalProperties === false && b.additionalProperties === false;
  const required = [...(a.required as string[]), ...(b.required as string[])];
  return {
    type: 'object',
    properties,
    required,
    ...(closed ? { additionalProperties: false } : {}),
  };
}

/** The node behind aliases. Undefined for one that says nothing or is still being made. */
function plainOf(node: Node): Node | undefined {
  let plain: Node = node;
  for (let steps = 0; steps < 100 && Object.keys(plain).length > 0; steps++) {
    const { allOf } = plain;
    if (!Array.isArray(allOf) || allOf.length !== 1 || Object.keys(plain).length !== 1)
      return plain;
    plain = allOf[0] as Node;
  }
  return undefined;
}

function isObjectNode(node: Node): boolean {
  return (
    node.type === 'object' &&
    isJsonObject(node.properties) &&
    !('propertyNames' in node) &&
    !('allOf' in node)
  );
}

function isScalarNode({ type, enum: values, anyOf }: Node): boolean {
  if (anyOf !== undefined) return false;
  return Array.isArray(values)
    ? values.every((value) => typeof value !== 'object' || value === null)
    : typeof type === 'string' && type !== 'object' && type !== 'array';
}
