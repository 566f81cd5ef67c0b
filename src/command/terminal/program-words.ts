import { dirname, join, sep } from 'node:path'

/** Parts of the process that show how it was started. */
type Start = Readonly<{
  /** Path of the entry point. */
  file: string
  cwd: string
  /** `npm_command`, which npm and npx set. */
  npmCommand: string | undefined
}>

/**
 * The user's command for this program: in a clone `npm run -s daybook --`, when installed `npx daybook` or `daybook`.
 * Messages print commands with it.
 */
export function programWords({ file, cwd, npmCommand }: Start): string {
  if (file.endsWith('.ts')) {
    const clone = dirname(dirname(file))
    return cwd === clone ? 'npm run -s daybook --' : `node ${file}`
  }
  const [project = ''] = file.split(`${sep}node_modules${sep}`)
  const isOfProject = project !== file && join(cwd, sep).startsWith(join(project, sep))
  return npmCommand === 'exec' || isOfProject ? 'npx daybook' : 'daybook'
}
