/** Reads the parts of a profile that list something: the profiles it extends and its tools. */
import { isJsonObject, type JsonObject, type JsonValue } from '../json.ts';
import { readOptions } from '../options.ts';
import { longestTimerMs } from './limits.ts';

/** What a profile itself says about a tool. Undefined where it says nothing. */
export interface ToolEntry {
  readonly name: string;
  readonly optional: boolean | undefined;
  readonly knobs: JsonObject | undefined;
  readonly timeoutMs: number | undefined;
  readonly maxOutputChars: number | undefined;
  readonly requiresApproval: boolean;
}

const toolKeys = ['name', 'optional', 'knobs', 'requiresApproval', 'timeoutMs', 'maxOutputChars'];

/** Throws unless `passed`. */
export type Expect = (passed: boolean, field: string, expected: string, got: unknown) => void;

export function readParents(
  value: JsonValue | undefined,
  id: string,
  expect: Expect,
): readonly string[] {
  if (value === undefined) return [];
  const list: readonly JsonValue[] = Array.isArray(value) ? value : [value];
  list.forEach((item, index) => {
    const field = Array.isArray(value) ? `extends[${index}]` : 'extends';
    expect(typeof item === 'string' && item.trim() !== '', field, 'the id of a profile', item);
    expect(item !== id, field, 'another profile than itself', item);
    expect(list.indexOf(item) === index, field, 'named once', item);
  });
  return list as readonly string[];
}

export function readTools(
  value: JsonValue | undefined,
  where: string,
  expect: Expect,
): readonly ToolEntry[] {
  expect(Array.isArray(value), 'tools', 'a list of names or objects', value);
  const names = new Set<string>();
  return (value as readonly JsonValue[]).map((item, index) => {
    const field = `tools[${index}]`;
    const entry = readTool(item, field, where, expect);
    expect(!names.has(entry.name), field, 'a tool that the list names once', entry.name);
    names.add(entry.name);
    return entry;
  });
}

function readTool(item: JsonValue, field: string, where: string, expect: Expect): ToolEntry {
  const isName = typeof item === 'string';
  expect(isName || isJsonObject(item), field, 'a name or an object with `name`', item);
  const tool: JsonObject = isName ? { name: item } : (item as JsonObject);
  const { name, optional, knobs, requiresApproval, timeoutMs, maxOutputChars } = readOptions(
    `${where}: ${field}`,
    tool,
    toolKeys,
    { noun: 'field' },
  );
  const isBlank = typeof name !== 'string' || name.trim() === '';
  expect(!isBlank, isName ? field : `${field}.name`, 'a non-blank string', name);
  expect(isOptionalBoolean(optional), `${field}.optional`, 'a boolean', optional);
  expect(knobs === undefined || isJsonObject(knobs), `${field}.knobs`, 'an object', knobs);
  expect(
    isOptionalBoolean(requiresApproval),
    `${field}.requiresApproval`,
    'true',
    requiresApproval,
  );
  expect(
    timeoutMs === undefined ||
      (typeof timeoutMs === 'number' && timeoutMs > 0 && timeoutMs <= longestTimerMs),
    `${field}.timeoutMs`,
    'a number above 0 and at most 2^31-1',
    timeoutMs,
  );
  expect(
    maxOutputChars === undefined ||
      (Number.isSafeInteger(maxOutputChars) && (maxOutputChars as number) > 0),
    `${field}.maxOutputChars`,
    'a whole number from 1',
    maxOutputChars,
  );
  return {
    name,
    optional,
    knobs,
    timeoutMs,
    maxOutputChars,
    requiresApproval: requiresApproval === true,
  } as ToolEntry;
}

function isOptionalBoolean(value: JsonValue | undefined): boolean {
  return value === undefined || typeof value === 'boolean';
}
