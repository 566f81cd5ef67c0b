import { startVerify } from './island-verify-forms.ts'

// Script of the saved verifier file: only the checks.
startVerify()
