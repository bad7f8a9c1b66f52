/**
 * Marks in a source text, which note what a test file runs: one before each statement of a
 * function, and one at each arrow function without a block.
 */
import ts from 'typescript';

/** Where the marks stand: what a mark is called is its place in the file. */
export function marksOf(file: string, text: string): number[] {
  return placesOf(file, text)
    .map(({ at }) => at)
    .sort((a, b) => a - b);
}

/** The text with its marks. Lines stay where they are. */
export function marked(file: string, text: string): string {
  const note = (at: number): string =>
    `globalThis.mutateHits?.add(${JSON.stringify(`${file}:${at}`)})`;
  const insertions = placesOf(file, text).flatMap(({ at, end }) =>
    end === undefined
      ? [{ at, order: at, added: `${note(at)};` }]
      : [
          { at, order: at, added: `(${note(at)}, ` },
          { at: end, order: -at, added: ')' },
        ],
  );
  // From the end of the text to its start, so that places stay true.
  insertions.sort((a, b) => b.at - a.at || b.order - a.order);
  let result = text;
  for (const { at, added } of insertions) result = result.slice(0, at) + added + result.slice(at);
  return result;
}

/**
 * The mark that a mutant at this place lies under: the statement that holds it; undefined where a
 * module's own code holds it.
 */
export function markAbove(
  marks: readonly number[],
  file: string,
  text: string,
  start: number,
): number | undefined {
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.ES2022, true);
  const known = new Set(marks);
  let found: number | undefined;
  const visit = (node: ts.Node): void => {
    if (start < node.getFullStart() || start >= node.end) return;
    if (known.has(node.getStart(source)) && start >= node.getStart(source))
      found = node.getStart(source);
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

interface PlaceOfMark {
  readonly at: number;
  /** The end of an expression that the mark goes around. */
  readonly end?: number | undefined;
}

function placesOf(file: string, text: string): PlaceOfMark[] {
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.ES2022, true);
  const places: PlaceOfMark[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isBlock(node) || ts.isCaseOrDefaultClause(node))
      for (const statement of node.statements) places.push({ at: statement.getStart(source) });
    if (ts.isArrowFunction(node) && !ts.isBlock(node.body))
      places.push({ at: node.body.getStart(source), end: node.body.end });
    ts.forEachChild(node, visit);
  };
  visit(source);
  return places;
}
