/**
 * What an editor shows on hovering a name is the page most read: each public name and each member
 * of it says something. Exempt are members whose type is one literal, never or undefined
 * (discriminants: the type around them tells the cases apart), members named by a symbol (phantoms:
 * they carry types, no values), and those of a type literal on one line: the comment on what it is
 * the type of speaks of them.
 */
import { dirname, join, relative } from 'node:path';
import ts from 'typescript';
import { expect, test } from 'vitest';
import tsupConfig from '../tsup.config.ts';
import { root } from './docs/pages.ts';

const files = new Map<string, ts.SourceFile>();

const entries = Object.entries(tsupConfig.entry as Readonly<Record<string, string>>).filter(
  ([subpath]) => subpath !== 'cli',
);

test.each(entries)(
  'every export of %s, and every member of it, has a TSDoc comment',
  (_, entry) => {
    const exported = exportsOf(join(root, entry));
    expect(exported).not.toEqual([]);
    const silent = exported.flatMap(({ path, name }) => {
      const declared = declarationsOf(path, name);
      expect(declared, `${name} is declared in ${path}`).not.toEqual([]);
      return [
        ...(declared.some(speaks) ? [] : declared.slice(0, 1)),
        ...declared.flatMap(membersOf).filter((member) => !speaks(member)),
      ];
    });
    expect(silent.map(placeOf)).toEqual([]);
  },
);

function parse(path: string): ts.SourceFile {
  const known =
    files.get(path) ??
    ts.createSourceFile(path, ts.sys.readFile(path) ?? '', ts.ScriptTarget.ES2022, true);
  files.set(path, known);
  return known;
}

/** An entry is a list of `export { … } from './file.ts'` and nothing else. */
function exportsOf(path: string): { path: string; name: string }[] {
  return parse(path).statements.flatMap((statement) => {
    if (
      !ts.isExportDeclaration(statement) ||
      !statement.exportClause ||
      !ts.isNamedExports(statement.exportClause)
    )
      return [];
    const from = join(dirname(path), (statement.moduleSpecifier as ts.StringLiteral).text);
    return statement.exportClause.elements.map(({ name, propertyName }) => ({
      path: from,
      name: (propertyName ?? name).text,
    }));
  });
}

/**
 * All declarations of a name: a type and a value may share it, and a function has one for each
 * overload.
 */
function declarationsOf(path: string, name: string): ts.Node[] {
  return parse(path).statements.filter((statement) =>
    ts.isVariableStatement(statement)
      ? statement.declarationList.declarations.some(
          (declaration) => declaration.name.getText() === name,
        )
      : (statement as { name?: ts.Node } & ts.Statement).name?.getText() === name,
  );
}

/** Members of an interface, a class or a type's literals, at any depth; of overloads the first. */
function membersOf(node: ts.Node): ts.Node[] {
  const found: ts.Node[] = [];
  const visit = (child: ts.Node): void => {
    if (
      ts.isBlock(child) ||
      ts.isParameter(child) ||
      (ts.isTypeLiteralNode(child) && !child.getText().includes('\n'))
    )
      return;
    if ((ts.isTypeElement(child) || ts.isClassElement(child)) && isPublic(child)) found.push(child);
    ts.forEachChild(child, visit);
  };
  if (
    ts.isInterfaceDeclaration(node) ||
    ts.isTypeAliasDeclaration(node) ||
    ts.isClassDeclaration(node)
  )
    ts.forEachChild(node, visit);
  return found.filter(
    (member, index) =>
      !found
        .slice(0, index)
        .some((earlier) => earlier.parent === member.parent && isSame(earlier, member)),
  );
}

function isSame(one: ts.Node, other: ts.Node): boolean {
  const [a, b] = [one, other].map((node) => (node as { name?: ts.Node } & ts.Node).name?.getText());
  return a !== undefined && a === b;
}

function isPublic(member: ts.TypeElement | ts.ClassElement): boolean {
  if (!member.name || ts.isPrivateIdentifier(member.name) || ts.isComputedPropertyName(member.name))
    return false;
  if (
    ts.canHaveModifiers(member) &&
    ts.getModifiers(member)?.some(({ kind }) => kind === ts.SyntaxKind.PrivateKeyword)
  )
    return false;
  return !(
    ts.isPropertySignature(member) &&
    member.type &&
    (ts.isLiteralTypeNode(member.type) || /^(never|undefined)$/.test(member.type.getText()))
  );
}

/** A blank line between a comment and a declaration makes it the head of the file. */
function speaks(node: ts.Node): boolean {
  const spoken = ts
    .getJSDocCommentsAndTags(node)
    .filter(
      (found) => ts.isJSDoc(found) && (found.comment !== undefined || found.tags !== undefined),
    );
  return spoken.some(
    ({ end }) => !/\n\s*\n/.test(node.getSourceFile().text.slice(end, node.getStart())),
  );
}

function placeOf(node: ts.Node): string {
  const { line } = node.getSourceFile().getLineAndCharacterOfPosition(node.getStart());
  return (
    `${relative(root, node.getSourceFile().fileName)}:${line + 1}: ` +
    `${node.getText().split('\n', 1)[0]}`
  );
}
