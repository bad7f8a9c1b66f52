/** The names of tools in spans and metrics. Their number is bounded, whoever defines the tools. */
import { repeatedBrief } from './attribute-text.ts';

/** Most tools of sessions that have their own label. Clients may bring them. */
const maxOwnTools = 1_000;

/** The label of names that no tool has: a model can make up any number of them. */
const unknownTool = '_unknown';
/** The label of a session's own tools beyond the limit. */
const otherTool = '_other';

/** Gives tools their labels. */
export interface ToolLabels {
  /** @param isOwn The tool belongs to a session alone. */
  of(tool: string | undefined, isOwn: boolean): string;
}

export function createToolLabels(): ToolLabels {
  const own = new Set<string>();
  const brief = repeatedBrief();
  return {
    of(tool, isOwn) {
      if (tool === undefined) return unknownTool;
      if (!isOwn || own.has(tool)) return brief(tool);
      if (own.size >= maxOwnTools) return otherTool;
      own.add(tool);
      return brief(tool);
    },
  };
}
