/** What zsh reads otherwise than other shells. It is the login shell of many people. */

/** Builtins and functions of zsh that run, define or change commands, or that reach further. */
const words: ReadonlySet<string> = new Set(
  // Reserved words, which bash takes for programs.
  (
    'always end foreach repeat coproc ' +
    // Builtins.
    'add-zle-hook-widget add-zsh-hook autoload bindkey chdir compadd compcall compctl compset ' +
    'disable emulate functions getln limit log noglob private pushln r rehash sched setopt ' +
    'ttyctl unfunction unhash unlimit unsetopt vared zcompile zformat zle zmodload zparseopts ' +
    'zprof zregexparse zstyle ' +
    // Builtins of modules.
    'cap clone echotc echoti getcap pcre_compile pcre_match private setcap strftime sysopen ' +
    'sysread sysseek syserror syswrite zcurses zftp zgdbmpath zpty zselect zsocket zstat ' +
    'zsystem ztcp ztie zuntie ' +
    // Functions that come with it.
    'calendar regexp-replace run-help tcp_open tcp_send throw tetris zargs zcalc zcp zed zftp ' +
    'zln zmathfuncdef zmv zrecompile zsh-mime-setup'
  ).split(' '),
);

/** Whether a program's name is a word of zsh, after which a line does what other shells do not. */
export function isZshWord(program: string): boolean {
  return words.has(program) || program.startsWith('zf_') || program.startsWith('tcp_');
}

/**
 * What only zsh expands in a word, as far as it is not in quotes: `=program`, `$=x`, `<1-9>`.
 * @param text The word as it is written
 */
export function zshExpansion(text: string): string | undefined {
  if (/^=[\w./+@-]/.test(text) && !text.startsWith('==')) return text;
  // In double quotes too.
  if (/\$[=~^+]+[\w{([]/.test(text) && !text.startsWith("'")) return text;
  return undefined;
}

/**
 * What zsh makes of a redirection: `<1-9>` is a pattern, and the file follows `>!`.
 * @returns The file that is written, or an empty text. Undefined if all shells read it alike.
 */
export function zshRedirect(
  operator: string,
  target: string,
  following: () => string,
): string | undefined {
  if (operator === '<' && /^\d*-\d*$/.test(target)) return '';
  if (!target.startsWith('!') || !operator.includes('>')) return undefined;
  const file = target.slice(1) || (/\S+/.exec(following())?.[0] ?? '');
  return file.replace(/["'\\]/g, '');
}
