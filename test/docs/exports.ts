/** What the package exports, as the sources declare it, and the examples in its comments. */
import { dirname, join, relative } from 'node:path';
import ts from 'typescript';
import { subpaths } from '../../tsup.config.ts';
import { root, type Snippet } from './pages.ts';

/** An exported name and all of its declarations. */
export interface Exported {
  readonly name: string;
  /** Of its file, absolute. */
  readonly path: string;
  /** A type and a value may share a name, and a function has one declaration per overload. */
  readonly declarations: readonly ts.Node[];
}

/** Each subpath of the package with its entry in `src`. */
export const entries: readonly (readonly [subpath: string, entry: string])[] =
  Object.entries(subpaths);

const files = new Map<string, ts.SourceFile>();

function parse(path: string): ts.SourceFile {
  const known =
    files.get(path) ??
    ts.createSourceFile(path, ts.sys.readFile(path) ?? '', ts.ScriptTarget.ES2022, true);
  files.set(path, known);
  return known;
}

/**
 * An entry is a list of `export { … } from './file.ts'`, and of `export *` from another entry. That
 * of a part is the file that exports its function.
 */
export function exportsOf(entry: string): Exported[] {
  const path = join(root, entry);
  return parse(path).statements.flatMap((statement) => {
    if (ts.isFunctionDeclaration(statement) && exportedHere(statement)) {
      const name = statement.name?.text as string;
      return { name, path, declarations: declarationsOf(path, name) };
    }
    if (!ts.isExportDeclaration(statement)) return [];
    const from = join(dirname(path), (statement.moduleSpecifier as ts.StringLiteral).text);
    if (statement.exportClause === undefined) return exportsOf(relative(root, from));
    if (!ts.isNamedExports(statement.exportClause)) return [];
    return statement.exportClause.elements.map(({ name, propertyName }) => {
      const original = (propertyName ?? name).text;
      return { name: original, path: from, declarations: declarationsOf(from, original) };
    });
  });
}

function exportedHere({ modifiers }: ts.FunctionDeclaration): boolean {
  return modifiers?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword) === true;
}

function declarationsOf(path: string, name: string): ts.Node[] {
  const own = parse(path).statements.filter((statement) =>
    ts.isVariableStatement(statement)
      ? statement.declarationList.declarations.some(
          (declaration) => declaration.name.getText() === name,
        )
      : (statement as { name?: ts.Node } & ts.Statement).name?.getText() === name,
  );
  return [...own, ...own.filter(ts.isClassDeclaration).flatMap((node) => baseOf(path, node))];
}

/** The class that a class extends, from another file, since it has most of the members. */
function baseOf(path: string, { heritageClauses }: ts.ClassDeclaration): ts.Node[] {
  const base = heritageClauses
    ?.find(({ token }) => token === ts.SyntaxKind.ExtendsKeyword)
    ?.types[0]?.expression.getText();
  return parse(path).statements.flatMap((statement) => {
    if (!ts.isImportDeclaration(statement)) return [];
    const { namedBindings } = statement.importClause ?? {};
    if (namedBindings === undefined || !ts.isNamedImports(namedBindings)) return [];
    const found = namedBindings.elements.find(({ name }) => name.text === base);
    if (found === undefined) return [];
    const from = join(dirname(path), (statement.moduleSpecifier as ts.StringLiteral).text);
    return declarationsOf(from, (found.propertyName ?? found.name).text);
  });
}

/** Whether the name is there at run time: a function, a class or a constant. */
export function isValue({ declarations }: Exported): boolean {
  return declarations.some(
    (node) =>
      ts.isFunctionDeclaration(node) || ts.isClassDeclaration(node) || ts.isVariableStatement(node),
  );
}

/** The `@example` tags on a declaration itself; not those of its members. */
export function examplesOn(node: ts.Node): ts.JSDocTag[] {
  return ts.getJSDocTags(node).filter(({ tagName }) => tagName.text === 'example');
}

/** Where a node stands, as `src/file.ts:12`. */
export function lineOf(node: ts.Node): string {
  const file = node.getSourceFile();
  const { line } = file.getLineAndCharacterOfPosition(node.getStart());
  return `${relative(root, file.fileName)}:${line + 1}`;
}

/**
 * Every `@example` in the comments of what is exported, each as a module. Without a fence of `ts`
 * an example is no code, and an error.
 */
export function exampleSnippets(): Snippet[] {
  const found = new Map<string, Snippet>();
  const visit = (node: ts.Node): void => {
    for (const tag of examplesOn(node)) {
      const place = lineOf(tag);
      const text = ts.getTextOfJSDocComment(tag.comment) ?? '';
      const code = /^\s*```ts\n([\s\S]*)\n```\s*$/.exec(text)?.[1];
      if (code === undefined)
        throw new Error(`${place}: expected \`@example\` to hold a fence of \`ts\`, and no more`);
      const [page = '', line] = place.split(':');
      found.set(place, { page, line: Number(line), code });
    }
    if (!ts.isBlock(node)) ts.forEachChild(node, visit);
  };
  for (const [, entry] of entries)
    for (const { declarations } of exportsOf(entry)) declarations.forEach(visit);
  return [...found.values()];
}

/** What an example may use without making it: the names that every page explains. */
export const exampleGlobals: Snippet = {
  page: 'names of the examples',
  line: 1,
  code: `
import type { HostToolDefinition, HostToolRegistry, ToolSession } from 'host-tools';
declare global {
  const registry: HostToolRegistry;
  const session: ToolSession;
  const add: HostToolDefinition<'add', { a: number; b: number }, number, unknown, unknown>;
}`,
};
