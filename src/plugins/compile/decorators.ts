import type { BuildFailure } from 'esbuild';

/** Packages whose decorators are called as TypeScript did before the standard ones: they throw when they are called otherwise. */
const olderPackages =
  /\bfrom\s*['"](?:class-validator|class-transformer|typeorm|tsyringe|inversify|typedi|type-graphql|routing-controllers|sequelize-typescript|@typegoose\/typegoose|@nestjs\/[\w-]+|@mikro-orm\/[\w-]+)(?:\/[^'"]*)?['"]/;
const reflecting = /\bimport\s*['"]reflect-metadata['"]/;
const decorator = /^[ \t]*(?:export\s+)?@[\w$]+|[{;,(]\s*@[\w$]+/m;

/** Whether the decorators of a file are meant as TypeScript compiled them before the standard ones, as far as its text tells. */
export function usesOlderDecorators(text: string): boolean {
  return decorator.test(text) && (olderPackages.test(text) || reflecting.test(text));
}

/** Whether a build failed for decorators alone that only the older kind has: those of parameters. */
export function needsOlderDecorators({ errors }: BuildFailure): boolean {
  return errors.every(({ text }) => text.startsWith('Parameter decorators only work'));
}

/** What a file with such decorators should know, as a warning: types are not kept for them. */
export function warnOfMetadata(text: string): string[] {
  if (!reflecting.test(text)) return [];
  return [
    'Decorators find no types when the code runs (emitDecoratorMetadata is no part of this compiler): name what they are to know, such as @inject(Service) or @Type(() => Part).',
  ];
}
