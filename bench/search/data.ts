/**
 * Questions with the tools that answer them, in the shape of the Berkeley Function-Calling
 * Leaderboard: `{ id, name, description, parameters }` a line, and
 * `{ question, tools, also?, twins?, script? }` a line.
 */
import { readFile } from 'node:fs/promises';

export interface ToolLine {
  readonly id: string;
  readonly name: string;
  readonly description?: string;
  readonly parameters: Readonly<Record<string, unknown>>;
}

export interface QuestionLine {
  readonly question: string;
  /** Ids of tools that together answer the question. */
  readonly tools: readonly string[];
  /** Other sets that would do. */
  readonly also?: readonly (readonly string[])[];
  /** Tools that count as another one. */
  readonly twins?: Readonly<Record<string, readonly string[]>>;
  /** `other` for questions that are not in English. */
  readonly script?: string;
}

export async function readLines<T>(path: string): Promise<T[]> {
  const text = await readFile(path, 'utf8');
  return text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as T);
}

/** One definition a name: those that a question names come first. */
export function distinctTools(
  tools: readonly ToolLine[],
  questions: readonly QuestionLine[],
): ToolLine[] {
  const wanted = new Set(questions.flatMap((question) => question.tools));
  const byName = new Map<string, ToolLine>();
  for (const isWanted of [true, false])
    for (const tool of tools)
      if (wanted.has(tool.id) === isWanted && !byName.has(tool.name)) byName.set(tool.name, tool);
  return [...byName.values()];
}
