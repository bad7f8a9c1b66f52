/** Rows for the kinds of tools that most agents have, under names of their own. */
import type { ToolRow } from './agent-tools.ts';

const readOnly = { readOnly: true } as const;
const destructive = { destructive: true } as const;
const openWorld = { readOnly: true, openWorld: true } as const;

/** It takes a `command`. */
export function shellTool(name: string, more: Partial<ToolRow> = {}): ToolRow {
  return {
    name,
    description: 'Runs a command line.',
    annotations: { destructive: true, openWorld: true },
    required: ['command'],
    shell: 'command',
    content: ['command', 'description'],
    ...more,
  };
}

export function readerOf(member: string, ...names: readonly string[]): readonly ToolRow[] {
  const file = { required: [member], paths: [member] };
  return names.map((name) => ({
    ...{ name, description: 'Reads a file.', annotations: readOnly, ...file },
  }));
}

/** @param content Members that are texts of the file. */
export function writer(name: string, member: string, content: readonly string[]): ToolRow {
  const file = { required: [member], paths: [member] };
  return { name, description: 'Changes a file.', annotations: destructive, ...file, content };
}

/** It lists files, or searches in them. @param paths Members that say where. */
export function searcher(name: string, ...paths: readonly string[]): ToolRow {
  return {
    ...{ name, description: 'Looks for files or in them.', annotations: readOnly, paths },
    content: ['pattern', 'query'],
  };
}

export function webTool(name: string, member: 'url' | 'query'): ToolRow {
  return {
    ...{ name, description: 'Reads from the web.', annotations: openWorld, required: [member] },
    ...(member === 'url' ? { url: 'url' } : {}),
    content: ['query', 'prompt'],
  };
}

/** What another agent reports may repeat what it has read. */
export function otherAgent(...names: readonly string[]): readonly ToolRow[] {
  return names.map((name) => ({
    ...{ name, description: 'Works with another agent.', origin: 'untrusted' },
    content: ['description', 'prompt', 'message', 'task'],
  }));
}

/** Tools that neither read files by a path nor change any, by what they do. */
export function plainTools(rows: Readonly<Record<string, string>>): readonly ToolRow[] {
  return Object.entries(rows).map(([name, description]) => ({ name, description }));
}

/** Tools whose text somebody else may have written. */
export function readers(rows: Readonly<Record<string, string>>): readonly ToolRow[] {
  return Object.entries(rows).map(([name, description]) => ({
    ...{ name, description, annotations: readOnly, origin: 'untrusted' },
  }));
}
