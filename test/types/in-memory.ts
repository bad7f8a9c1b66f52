/** Compiles a file that exists in memory only. */
import ts from 'typescript';

const options: ts.CompilerOptions = {
  target: ts.ScriptTarget.ES2022,
  module: ts.ModuleKind.NodeNext,
  moduleResolution: ts.ModuleResolutionKind.NodeNext,
  lib: ['lib.es2023.d.ts', 'lib.esnext.disposable.d.ts'],
  types: ['node'],
  strict: true,
  exactOptionalPropertyTypes: true,
  skipLibCheck: true,
  noEmit: true,
  allowImportingTsExtensions: true,
};

const host = ts.createCompilerHost(options);

/**
 * @param file where it would be, for its imports
 * @param before a program whose other files are used again
 */
export function compiled(
  file: string,
  text: string,
  before?: ts.Program,
): { readonly program: ts.Program; readonly mistakes: readonly string[] } {
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.ES2022, true);
  const program = ts.createProgram([file], options, {
    ...host,
    fileExists: (name) => name === file || host.fileExists(name),
    readFile: (name) => (name === file ? text : host.readFile(name)),
    getSourceFile: (name, ...rest) =>
      name === file ? source : (before?.getSourceFile(name) ?? host.getSourceFile(name, ...rest)),
  });
  const mistakes = [...program.getOptionsDiagnostics(), ...program.getSemanticDiagnostics(source)];
  return {
    program,
    mistakes: mistakes.map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n')),
  };
}
