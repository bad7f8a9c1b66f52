/** Names of files that decide something for agents. Data only: `file-kinds.ts` reads it. */
import type { FileKind } from './file-kind.ts';

/** What decides about the agent, or runs without a question, in any folder. */
export const guardedNames: readonly (readonly [FileKind, string])[] = [
  [
    'guard',
    `.claude/settings*.json .claude/host-tools* .claude/hooks/** .claude/plugins/** .claude.json
    .codex/config.toml .codex/*.config.toml .codex/hooks.json .codex/host-tools* .codex/hooks/**
    .codex/rules/** .codex/requirements.toml .codex/managed_config.toml .gemini/settings.json
    .gemini/host-tools* .gemini/hooks/** .gemini/policies/** .gemini/trustedfolders.json
    .gemini/extensions/** .cursor/hooks.json .cursor/hooks/** .cursor/cli.json
    .cursor/permissions.json .qwen/settings.json .kiro/hooks/** .factory/settings.json
    .factory/hooks/** .windsurf/hooks.json .github/hooks/** managed-settings.json
    managed-settings.d/** gemini-cli/settings.json host-tools/guard/** host-tools/hook/**
    host-tools/hook-cache/** node_modules/.bin/host-tools node_modules/.bin/node
    node_modules/host-tools/** node_modules/yaml/** node_modules/unbash/**`,
  ],
  ['git', `.gitconfig .config/git/** etc/gitconfig`],
  [
    'mcp',
    `.mcp.json mcp.json mcp.jsonc .mcp.jsonc mcp_config.json mcp-config.json mcp_settings.json
    mcp-settings.json *_mcp_settings.json *-mcp-settings.json mcp.config.json mcp_servers.json
    mcp-servers.json mcpservers.json claude_desktop_config.json opencode.json opencode.jsonc
    .opencode.json .opencode.jsonc .opencode/config.json crush.json .crush.json .continue/config.*
    .continue/mcpservers/** .zed/settings.json .amp/settings.json goose/config.yaml
    .config/opencode/*.json .copilot/config.json .mcp/** .augment/settings.json .warp/mcp/**
    gemini-extension.json .claude-plugin/** .vscode/mcp.json .codeium/windsurf/*.json
    librechat.yaml .kilocode/mcp.json`,
  ],
];

/** What other programs run by themselves, and what agents take for orders. */
export const laterNames: readonly (readonly [FileKind, string])[] = [
  [
    'runs-later',
    `.claude/agents/** .claude/commands/** .claude/skills/** .claude/workflows/**
    .claude/output-styles/** .claude/*.sh .claude/*.py .claude/*.js .claude/*.mjs .claude/*.ts
    .claude/launch.json .claude/bin/** .claude/scripts/** .cursor/** .codex/** .gemini/** .kiro/**
    .junie/** .roo/** .roomodes .windsurf/** .opencode/** .agents/** .agent/** .trae/** .qwen/**
    .factory/** .augment/** .copilot/** .continue/** .zed/** .amp/** .amazonq/** .kilocode/**
    .kilocodemodes .goose/** .tabnine/** .cline/** .devin/** .aider.conf.yml .aider.conf.yaml
    .husky/** .githooks/** .git-hooks/** git-hooks/** githooks/** git_hooks/** .hooks/**
    hooks/pre-commit hooks/pre-push hooks/commit-msg hooks/post-checkout hooks/post-merge
    hooks/post-commit hooks/prepare-commit-msg hooks/pre-receive hooks/post-receive
    hooks/post-rewrite hooks/pre-rebase lefthook.* .lefthook.* lefthook-local.* .lefthook-local.*
    .lefthook/** .pre-commit-config.yaml .pre-commit-config.yml .pre-commit-hooks.yaml prek.toml
    .overcommit.yml .git-hooks.* .simple-git-hooks.* simple-git-hooks.* .lintstagedrc
    .lintstagedrc.* lint-staged.config.* .huskyrc .huskyrc.* husky.config.* captainhook.json
    grumphp.yml .cargo-husky/** .rusty-hook.toml .gitmodules .git/info/attributes
    .github/workflows/** .github/actions/** .github/dependabot.yml .github/dependabot.yaml
    .github/renovate.json .forgejo/** .gitea/** action.yml action.yaml .gitlab-ci.yml
    .gitlab-ci.yaml .gitlab-ci.* .gitlab/** .circleci/** .buildkite/** .woodpecker/**
    .woodpecker.yml .woodpecker.yaml .teamcity/** .semaphore/** .tekton/** .drone.yml .drone.yaml
    .travis.yml .cirrus.yml .appveyor.yml appveyor.yml azure-pipelines* .azure-pipelines/**
    .azuredevops/** bitbucket-pipelines.yml jenkinsfile jenkinsfile.* *.jenkinsfile
    cloudbuild.yaml cloudbuild.yml buildspec.yml buildspec.yaml codemagic.yaml .ci/** .builds/**
    .build.yml .harness/** .screwdriver/** screwdriver.yaml .dagger/** earthfile .vscode/**
    *.code-workspace .idea/** .run/** .fleet/** .devcontainer/** .devcontainer.json
    devcontainer.json .gitpod.yml .gitpod.dockerfile .replit .idx/** .nvim.lua .nvimrc .exrc
    .vimrc .gvimrc .lvimrc .local.vimrc .dir-locals.el .emacs .emacs.d/** *.sublime-project .envrc
    mise.toml .mise.toml .mise.*.toml mise.*.toml .mise/** .config/mise/** .config/mise.toml
    .autoenv .tool-versions devenv.nix devbox.json .yarnrc .yarnrc.yml .yarn/plugins/**
    .yarn/releases/** .pnpmfile.cjs .pnpmfile.mjs .pnpmfile.js bunfig.toml .bunfig.toml
    .cargo/config .cargo/config.toml pip.conf pip.ini sitecustomize.py usercustomize.py *.pth
    .bazelrc .gdbinit .lldbinit .irbrc .pryrc .bashrc .bash_profile .bash_login .bash_logout
    .bash_aliases .profile .zshrc .zshenv .zprofile .zlogin .zlogout .kshrc .cshrc .tcshrc .login
    .inputrc .xinitrc .xprofile .xsession .config/fish/** .config/autostart/** .config/systemd/**
    .config/environment.d/** .local/bin/** library/launchagents/** library/launchdaemons/**
    .tmux.conf .screenrc .wgetrc .curlrc .pdbrc .rspec .rprofile .iex.exs .psqlrc .sqliterc
    .duckdbrc .ghci .ocamlinit .mailcap .ackrc .ripgreprc .ctags.d/** .tigrc .hgrc .hg/hgrc
    .jj/repo/** .dir-locals-2.el .helix/** .autoenv.* .mvn/** gradle-wrapper.properties
    gradle-wrapper.jar gradlew mvnw tools/bazel .venv/bin/** venv/bin/** node_modules/.bin/**
    renovate.json renovate.json5 .renovaterc .renovaterc.* .gitlab-ci/** *.gitlab-ci.yml
    wercker.yml .drone.* .readthedocs.yaml .readthedocs.yml .warp/** .vibe/** .pi/** .qodo/**
    .sweep.yaml .coderabbit.yaml .pr_agent.toml .git/info/** .git/objects/info/** .git/head
    .git/commondir hooks/hooks.json .lsp.json copilot-setup-steps.yml .claude/loop.md
    .worktreeinclude .ssh/rc .ssh/config crontab .crontab cron.d/**`,
  ],
  [
    'instructions',
    `agents.md agents.*.md agent.md claude.md claude.*.md gemini.md qwen.md warp.md codex.md
    jules.md skill.md .claude/rules/** .cursor/rules/** .cursorrules .windsurfrules
    .windsurf/rules/** .clinerules .clinerules/** .roorules .roorules-* .roo/rules/**
    .continue/rules/** .kiro/steering/** .junie/guidelines.md .amazonq/rules/** .trae/rules/**
    .augment/rules/** .augment-guidelines .kilocode/rules/** copilot-instructions.md
    .github/copilot-instructions.md .github/instructions/** .github/prompts/** .github/agents/**
    .github/chatmodes/** .github/skills/** .goosehints .rules .codex/prompts/**
    .gemini/commands/** .gemini/agents/** .gemini/skills/** .opencode/agent/**
    .opencode/command/** llms.txt .cursor/commands/** .aiassistant/rules/** .openhands/**
    .openhands_instructions replit.md *.instructions.md *.prompt.md *.chatmode.md *.mdc`,
  ],
];

/** What an agent writes for itself. These are no settings. */
export const notesNames: readonly (readonly [FileKind, string])[] = [
  [
    'own-notes',
    `.claude/plans/** .claude/projects/*/memory/** .claude/agent-memory/**
    .claude/agent-memory-local/** .claude/todos/** .claude/tasks/** .claude/session-memory/**
    .claude/scratchpad/** .gemini/tmp/** .gemini/plans/** .codex/memories/** .codex/plans/**`,
  ],
];
