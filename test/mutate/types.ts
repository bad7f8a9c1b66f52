/**
 * Whether a changed source still passes the type check. What does not compile is no mutant: no such
 * change reaches a test.
 */
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import ts from 'typescript';

/**
 * Tells whether this text in the place of a file compiles. A file of the project is taken as it is
 * on the disk otherwise.
 */
export function createTypeCheck(root: string): (file: string, text: string) => boolean {
  const { config } = ts.readConfigFile(resolve(root, 'tsconfig.json'), ts.sys.readFile);
  const { options } = ts.parseJsonConfigFileContent({ ...config, include: ['src'] }, ts.sys, root);
  const sources = ts.sys.readDirectory(resolve(root, 'src'), ['.ts']);
  const changed = { path: '', text: '', version: 0 };
  const service = ts.createLanguageService({
    // A name that a mutant leaves unused is a matter of style.
    getCompilationSettings: () => ({
      ...options,
      noUnusedLocals: false,
      noUnusedParameters: false,
      allowUnreachableCode: true,
    }),
    getScriptFileNames: () => sources,
    getScriptVersion: (path) => (path === changed.path ? String(changed.version) : '0'),
    getScriptSnapshot: (path) => {
      if (path === changed.path) return ts.ScriptSnapshot.fromString(changed.text);
      return ts.sys.fileExists(path)
        ? ts.ScriptSnapshot.fromString(readFileSync(path, 'utf8'))
        : undefined;
    },
    getCurrentDirectory: () => root,
    getDefaultLibFileName: (settings) => ts.getDefaultLibFilePath(settings),
    fileExists: ts.sys.fileExists,
    readFile: ts.sys.readFile,
    readDirectory: ts.sys.readDirectory,
    directoryExists: ts.sys.directoryExists,
    getDirectories: ts.sys.getDirectories,
  });
  return (file, text) => {
    Object.assign(changed, { path: resolve(root, file), text, version: changed.version + 1 });
    return (
      service.getSyntacticDiagnostics(changed.path).length === 0 &&
      service.getSemanticDiagnostics(changed.path).length === 0
    );
  };
}
