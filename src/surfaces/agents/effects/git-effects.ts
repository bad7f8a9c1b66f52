/** Commands of git with an effect. Data only: `match.ts` reads it. */
import type { EffectRow } from './effect.ts';

export const gitEffects: readonly EffectRow[] = [
  [
    'loses-work',
    'throws changes away',
    `git reset --hard|--merge; git mv --force|-f; git checkout --force|-f
    git switch --force|-f|--discard-changes
     git merge|rebase|cherry-pick|revert|am --abort|--skip|--quit; git rm --force|-f
     git submodule deinit --force|-f; git submodule update --force|-f; git stash drop|clear
     git worktree remove|prune; git notes remove|prune
     git notes add|copy --force|-f; git read-tree --reset; git-filter-repo|bfg
     git-lfs prune|migrate; hg|sl revert|update|goto|purge|clean|strip|rollback
     bzr|brz|svn revert`,
  ],
  [
    'loses-work',
    'moves, replaces or deletes branches, tags or other references',
    `git branch --delete|-d|-D|-M|-C|--force|-f; git checkout -B; git switch --force-create|-C
     git tag --delete|-d|--force|-f; git update-ref; git symbolic-ref + +
      git symbolic-ref --delete|-d
     git replace; git fetch|pull --force|-f; git fetch|pull =+*; git fetch|pull --prune|-p =*:*
     git fetch --prune-tags|-P; git worktree add -B|--force|-f
     git remote prune`,
  ],
  [
    'loses-work',
    'rewrites or removes commits',
    `git rebase !--continue !--edit-todo !--show-current-patch; git filter-branch
     git reflog expire|delete; git prune; git gc --prune; git repack --prune-packed|-d`,
  ],
  ['pushes', 'sends work to another repository', 'git push|send-email; git-lfs push'],
  [
    'pushes',
    'changes where work goes',
    'git remote add|set-url|rename|rm|remove|set-branches|set-head; git submodule set-url',
  ],
  [
    'changes-settings',
    'changes when git runs by itself',
    'git maintenance start|stop|register|unregister; scalar register|clone|reconfigure',
  ],
  ['changes-settings', 'moves the repository', 'git init|clone --separate-git-dir'],
  ['unpacks', 'writes files that the line does not name', 'git apply|am'],
];
