/** Judges the arguments of a call: the origin of each target and of each identifier in a text. */

import type { FoundOrigin, JudgedOrigin, KnownContainers, Role } from '../../api/origins.ts';
import { isJsonObject, type JsonPrimitive, type JsonValue } from '../../values/json/index.ts';
import { isMoment } from './dates.ts';
import { identifiersIn } from './identifiers.ts';
import { knownContainer } from './known-containers.ts';
import type { LabelNode } from './labels.ts';

import { lookupSteps, type OriginRecord } from './record.ts';
import {
  hasMomentFormat,
  type InputRoles,
  isContentName,
  isDeclared,
  isFixed,
  isMomentField,
} from './roles.ts';
import type { Steps } from './text.ts';

/** Deeper values are judged as a whole. */
const maxDepth = 200;

/**
 * The origins of the values that an input acts upon, in the order of the input: the whole value of
 * each target, and each identifier in a text. Values that are `free` or fixed by the schema are
 * left out, and so are empty texts. A key that the schema does not name is read as a text.
 *
 * A date or time in an argument that is named or described as one (`date`, `start_time`,
 * `YYYY-MM-DD`) is listed only if it is known: a moment says neither whom nor what.
 *
 * Longer than 60 lines, since the functions of the walk share the results, and run for each
 * argument of each call.
 */
export function judgeInput(
  record: OriginRecord,
  input: JsonValue,
  roles: InputRoles,
  containers: KnownContainers = {},
): JudgedOrigin[] {
  const judged: JudgedOrigin[] = [];
  const steps: Steps = { left: lookupSteps };
  const { fields } = roles;

  const originOf = (value: JsonPrimitive): FoundOrigin => {
    const found = record.originOf(value, steps);
    if (found.origin === 'user' || found.origin === 'trusted' || typeof value !== 'string')
      return found;
    return knownContainer(record, value, containers, steps) ?? found;
  };
  const push = (
    path: string,
    value: JsonPrimitive,
    role: 'target' | 'content',
    found: FoundOrigin,
  ): void => {
    judged.push(Object.assign({ path, value, role }, found));
  };
  const judgeText = (path: string, text: string): void => {
    const identifiers = identifiersIn(text);
    if (identifiers === undefined) push(path, text, 'content', { origin: record.unsearched });
    else for (const one of identifiers) push(path, one, 'content', originOf(one));
  };
  /** Elements of an array have the same name, one after another. */
  let lastName = '';
  let lastIsContent = false;
  const isContent = (name: string): boolean => {
    if (name !== lastName) {
      lastName = name;
      lastIsContent = isContentName(name);
    }
    return lastIsContent;
  };
  const judgeString = (
    path: string,
    value: string,
    name: string,
    role: Role | undefined,
    node: LabelNode<Role>,
  ): void => {
    if (value === '' || isFixed(value, node)) return;
    if (role === 'content' || (role === undefined && isContent(name))) judgeText(path, value);
    else if (
      role === undefined &&
      isMoment(value) &&
      (hasMomentFormat(node) || isMomentField(name, node))
    ) {
      if (hasMomentFormat(node)) return;
      const found = originOf(value);
      if (found.origin === 'user' || found.origin === 'trusted') push(path, value, 'target', found);
    } else push(path, value, 'target', originOf(value));
  };
  const walk = (
    value: JsonValue,
    node: LabelNode<Role>,
    above: Role | undefined,
    path: string,
    name: string,
    depth: number,
  ): void => {
    const role = node.label ?? above;
    // A label further down may be more specific than the one above.
    if (role === 'free' && (typeof value !== 'object' || value === null)) return;
    if (typeof value === 'string') judgeString(path, value, name, role, node);
    else if (typeof value === 'number') {
      if (role === 'target' && !isFixed(value, node)) push(path, value, 'target', originOf(value));
    } else if (typeof value === 'object' && value !== null) {
      if (depth >= maxDepth) push(path, unreadValue, 'target', { origin: record.unsearched });
      else if (Array.isArray(value))
        for (let index = 0; index < value.length; index++)
          walk(
            value[index] as JsonValue,
            fields.child(node, index),
            role,
            below(path, index),
            name,
            depth + 1,
          );
      else if (isJsonObject(value))
        for (const key of Object.keys(value)) {
          if (role !== 'free' && !isDeclared(key, node)) judgeText(path, key);
          walk(
            value[key] as JsonValue,
            fields.child(node, key),
            role,
            below(path, key),
            key,
            depth + 1,
          );
        }
    }
  };
  walk(input, fields.root, undefined, '', '', 0);
  return judged;
}

function below(path: string, key: string | number): string {
  return path === '' ? String(key) : `${path}.${key}`;
}

/** The value of an argument that cannot be read. */
export const unreadValue = '…';
