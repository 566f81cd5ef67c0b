import type { Command, Option } from 'commander'

export const SHELLS = ['bash', 'zsh', 'fish'] as const
export type Shell = (typeof SHELLS)[number]

/** A command line as typed so far (`get summary`), with the commands and options that may follow. */
type CommandPath = Readonly<{ words: string; commands: readonly Command[]; options: readonly Option[] }>

/** Shell script that completes the commands, options and choices of a program. */
export function completionScript(program: Command, shell: Shell): string {
  const name = program.name()
  const paths = commandPaths(program, '')
  switch (shell) {
    case 'bash':
      return bash(name, paths)
    case 'zsh':
      return zsh(name, paths)
    case 'fish':
      return fish(name, paths)
  }
}

function commandPaths(command: Command, words: string): readonly CommandPath[] {
  const { commands } = command
  const { visibleOptions, visibleCommands } = {
    visibleOptions: command.createHelp().visibleOptions(command),
    visibleCommands: command.createHelp().visibleCommands(command),
  }
  const own: CommandPath = { words, commands: visibleCommands, options: visibleOptions }
  const below = commands.flatMap((one) => commandPaths(one, `${words} ${one.name()}`.trimStart()))
  return [own, ...below]
}

const flagsOf = ({ short, long }: Option): readonly string[] =>
  [short, long].filter((flag) => flag !== undefined)
const takesFile = ({ flags }: Option): boolean => /<(?:file|dir|files|checkpoint)>/.test(flags)
const takesValue = ({ required, optional }: Option): boolean => required || optional

/** Text in single quotes, so that the shell runs nothing in it. */
const literal = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`

/** Pattern of a shell's `case` that matches every command line with subcommands. */
const anyPath = (paths: readonly CommandPath[]): string =>
  paths
    .filter(({ words }) => words !== '')
    .map(({ words }) => literal(words))
    .join('|')

/** One branch of a shell's `case` for each option with a value; `branch` gives its commands. */
function valueCases(paths: readonly CommandPath[], branch: (option: Option) => string): readonly string[] {
  return paths.flatMap(({ words, options }) =>
    options.filter(takesValue).map((option) => {
      const flags = flagsOf(option).map((flag) => literal(`${words} ${flag}`))
      return `    ${flags.join('|')}) ${branch(option)} ;;`
    }),
  )
}

/**
 * Bash script. It finds the typed command, then offers a choice of the option before the cursor, an option, a command or
 * a file.
 */
function bash(name: string, paths: readonly CommandPath[]): string {
  const cases = paths.map(({ words, commands, options }) => {
    const names = commands.map((one) => one.name())
    const flags = options.flatMap(flagsOf)
    return `    ${literal(words)}) commands=${literal(names.join(' '))}; flags=${literal(flags.join(' '))} ;;`
  })
  const values = valueCases(paths, (option) => {
    if (option.argChoices !== undefined) return `choices=${literal(option.argChoices.join(' '))}`
    return `choices=${takesFile(option) ? '@file' : '@none'}`
  })
  return `# bash completion for ${name}: source <(${name} completion bash)
_${name}() {
  local current=\${COMP_WORDS[COMP_CWORD]} before=\${COMP_WORDS[COMP_CWORD-1]}
  local place='' commands='' flags='' choices='' word
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "\${place:+$place }$word" in
    ${anyPath(paths)}) place="\${place:+$place }$word" ;;
    esac
  done
  case "$place" in
${cases.join('\n')}
  esac
  case "$place $before" in
${values.join('\n')}
  esac
  COMPREPLY=()
  case "$choices" in
    @none) ;;
    @file) COMPREPLY=($(compgen -f -- "$current")) ;;
    ?*) COMPREPLY=($(compgen -W "$choices" -- "$current")) ;;
    *)
      if [[ $current == -* ]]; then COMPREPLY=($(compgen -W "$flags" -- "$current"))
      elif [[ -n $commands ]]; then COMPREPLY=($(compgen -W "$commands" -- "$current"))
      else COMPREPLY=($(compgen -f -- "$current"))
      fi ;;
  esac
}
complete -o filenames -F _${name} ${name}
`
}

function zsh(name: string, paths: readonly CommandPath[]): string {
  const quotedColon = (text: string): string => text.replaceAll(':', String.raw`\:`)
  const cases = paths.map(({ words, commands, options }) => {
    const names = commands.map((one) => literal(`${one.name()}:${quotedColon(one.description())}`))
    const flags = options.flatMap((option) =>
      flagsOf(option).map((flag) => literal(`${flag}:${quotedColon(option.description)}`)),
    )
    return `    ${literal(words)}) commands=(${names.join(' ')}); flags=(${flags.join(' ')}) ;;`
  })
  const values = valueCases(paths, (option) => {
    if (option.argChoices !== undefined)
      return `compadd -- ${option.argChoices.map(literal).join(' ')}; return`
    return `${takesFile(option) ? '_files' : '_message value'}; return`
  })
  return `#compdef ${name}
# zsh completion for ${name}: ${name} completion zsh > a file _${name} in a folder of $fpath
_${name}() {
  local place='' word
  local -a commands flags
  for word in "\${(@)words[2,CURRENT-1]}"; do
    case "\${place:+$place }$word" in
    ${anyPath(paths)}) place="\${place:+$place }$word" ;;
    esac
  done
  case "$place \${words[CURRENT-1]}" in
${values.join('\n')}
  esac
  case "$place" in
${cases.join('\n')}
  esac
  if [[ \${words[CURRENT]} == -* ]]; then _describe option flags
  elif (( \${#commands} )); then _describe command commands
  else _files
  fi
}
compdef _${name} ${name}
`
}

function fish(name: string, paths: readonly CommandPath[]): string {
  const quoted = (text: string): string =>
    `'${text.replaceAll('\\', '\\\\').replaceAll("'", String.raw`\'`)}'`
  const lines = paths.flatMap(({ words, commands, options }) => {
    // True when these words were typed and no subcommand of them.
    const seen = words.split(' ').filter((word) => word !== '')
    const below = commands.map((one) => one.name()).join(' ')
    const at = seen.map((word) => `__fish_seen_subcommand_from ${word}`)
    const notBelow = below === '' ? [] : [`not __fish_seen_subcommand_from ${below}`]
    const condition = quoted([...at, ...notBelow].join('; and ') || 'true')
    return [
      ...commands.map(
        (one) => `complete -c ${name} -n ${condition} -f -a ${one.name()} -d ${quoted(one.description())}`,
      ),
      ...options.map((option) => fishOption(name, condition, option, quoted)),
    ]
  })
  return `# fish completion for ${name}: ${name} completion fish | source\n${lines.join('\n')}\n`
}

function fishOption(
  name: string,
  condition: string,
  option: Option,
  quoted: (text: string) => string,
): string {
  const { short, long, description, argChoices } = option
  const flags = [short?.replace(/^-/, '-s '), long?.replace(/^--/, '-l ')].filter(
    (flag) => flag !== undefined,
  )
  const value = takesValue(option) ? [takesFile(option) ? '-r' : '-x'] : []
  const choices = argChoices === undefined ? [] : [`-a ${quoted(argChoices.join(' '))}`]
  return [
    `complete -c ${name} -n ${condition}`,
    ...flags,
    ...value,
    ...choices,
    `-d ${quoted(description)}`,
  ].join(' ')
}
