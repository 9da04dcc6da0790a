/** Blob, File and FormData, with the multipart form that bodies need. */
import type { Provide } from '../define.ts';
import { createBlobClasses } from './blob.ts';
import { createFormDataClass } from './form-data.ts';
import { encodeMultipart, parseMultipart } from './multipart.ts';

declare const provide: Provide;

provide((shared) => {
  const { Blob, File, readBlob } = createBlobClasses(shared);
  const FormData = createFormDataClass(Blob, File);
  for (const { prototype } of [Blob, FormData]) shared.watchInResults(prototype);

  return {
    Blob,
    File,
    FormData,
    createBlob: (bytes: Uint8Array, type: string) => new Blob([bytes], { type }),
    packBody(source: object) {
      if (source instanceof Blob) return { content: readBlob(source), type: source.type };
      if (!(source instanceof FormData)) return undefined;
      const boundary = `----hotcell${shared.randomUUID().replaceAll('-', '')}`;
      return { content: encodeMultipart(shared, source, boundary, readBlob), type: `multipart/form-data; boundary=${boundary}` };
    },
    parseForm(bytes: Uint8Array, type: string) {
      const form = new FormData();
      if (/^application\/x-www-form-urlencoded\b/i.test(type)) {
        for (const [name, value] of shared.parseQuery(shared.decodeText(bytes))) form.append(name, value);
        return form;
      }
      const [, quoted, plain] = /^multipart\/form-data\s*;(?:.*;)?\s*boundary=(?:"([^"]+)"|([^\s;]+))/i.exec(type) ?? [];
      const boundary = quoted ?? plain;
      if (boundary === undefined)
        throw new TypeError(`A form is urlencoded or multipart with a boundary; the content type is "${type}"`);
      for (const part of parseMultipart(shared, bytes, boundary)) {
        if (part.filename === undefined) form.append(part.name, shared.decodeText(part.content));
        else form.append(part.name, new File([part.content], part.filename, { type: part.type }));
      }
      return form;
    },
  };
});
