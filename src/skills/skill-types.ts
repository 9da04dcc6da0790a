/** What a SKILL.md declares, as far as scripts need it. */
export interface SkillManifest {
  /** Lower-case letters, digits and hyphens; the name of the folder where the file has no such name. */
  readonly name: string;
  readonly description: string;
  readonly version: string;
  /** Hosts that it wants to reach (`networkConfig.allowedDomains`). */
  readonly domains: readonly string[];
  /** Packages that it wants to have (`nixConfig`). */
  readonly nix: SkillPackages;
}

/** Packages of Nix as a skill or an operator names them, unchecked. */
export interface SkillPackages {
  readonly packages: readonly string[];
  readonly flakeUrl?: string;
}

/** A file of a skill: its path below the skill's folder, `/` between names. */
export interface SkillFile {
  readonly path: string;
  readonly data: Uint8Array;
}

/** A file in `scripts/` that can be run. */
export interface SkillScript {
  /** The name of the script in `scripts/`. */
  readonly name: string;
  /** The tool that it is once it is approved: `pdf.extract.py`. */
  readonly tool: string;
  /** What reads it, by its first line or its extension; absent where that is not known. */
  readonly interpreter?: { readonly command: string; readonly args: readonly string[] };
  /** Where it would run. */
  readonly image?: string;
  /** Why it cannot run, in a whole sentence. */
  readonly problem?: string;
}

/** One skill as it is in its folder now. */
export interface Skill {
  readonly manifest: SkillManifest;
  /** The real path of its folder. */
  readonly dir: string;
  /** SHA-256 (hex) over the paths and contents of all its files; what an approval is bound to. */
  readonly contentHash: string;
  readonly scripts: readonly SkillScript[];
  /** Files at its top, as far as they say what it needs: `flake.nix`, `shell.nix`, `.nix-packages`. */
  readonly nixFiles: Readonly<Record<string, string>>;
}

/** A folder that looks like a skill and is none. */
export interface SkillProblem {
  /** The folder's name. */
  readonly folder: string;
  readonly dir: string;
  /** A whole sentence. */
  readonly problem: string;
}
