package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"ubl"
	"ubl/blobs"
	"ubl/blobs/bucket"
	"ubl/secretfile"
	"ubl/storage"
)

// s3Flags put the contents of files into a bucket instead of into the data directory. All nodes of
// a cluster are given the same.
type s3Flags struct {
	S3Endpoint   string `name:"s3-endpoint" help:"Keep the contents of files in a store that speaks S3, at this address, instead of in the data directory." placeholder:"URL"`
	S3Bucket     string `name:"s3-bucket" help:"The bucket, which exists." placeholder:"NAME"`
	S3Region     string `name:"s3-region" help:"Its region, where the store asks for one." placeholder:"NAME"`
	S3Prefix     string `name:"s3-prefix" help:"What the names of all objects begin with." placeholder:"PREFIX"`
	S3AccessKey  string `name:"s3-access-key" help:"The id of the key that may read, write, list and delete there." placeholder:"ID"`
	S3SecretFile string `name:"s3-secret-file" type:"path" help:"File with the key's secret; else it is the variable UBL_S3_SECRET." placeholder:"FILE"`
}

// s3Secret holds the secret of the key that the flags name.
const s3Secret = "UBL_S3_SECRET"

// use has the program's nodes keep contents where the flags say.
func (f *s3Flags) use(p *program) error {
	if f.S3Endpoint == "" {
		if f.S3Bucket != "" || f.S3AccessKey != "" {
			return usagef("--s3-bucket and --s3-access-key go with --s3-endpoint")
		}
		return nil
	}
	if f.S3Bucket == "" || f.S3AccessKey == "" {
		return usagef("--s3-endpoint takes --s3-bucket and --s3-access-key, too")
	}
	const holds = "the secret of the key of --s3-access-key, on one line"
	secret := strings.TrimSpace(p.env[s3Secret])
	place := "the variable " + s3Secret
	if f.S3SecretFile != "" {
		var err error
		place = "the file " + f.S3SecretFile
		if secret, err = secretfile.Read(f.S3SecretFile, holds); err != nil {
			return err
		}
	}
	if secret == "" {
		return usagef("the S3 store's key has a secret: give --s3-secret-file or %s", s3Secret)
	}
	if strings.ContainsAny(secret, "\r\n") {
		return secretfile.Wrong(place, holds)
	}
	p.bucket = &bucket.Options{
		Endpoint: f.S3Endpoint, Region: f.S3Region, Bucket: f.S3Bucket, Prefix: f.S3Prefix, AccessKey: f.S3AccessKey, SecretKey: secret,
	}
	return nil
}

// restoredBlobs opens a place for the contents of files in a backup: a folder at a path or, where
// the program has one, the bucket, by way of that folder.
func (p *program) restoredBlobs(ctx context.Context) func(string) (storage.KeepBlob, error) {
	return func(path string) (storage.KeepBlob, error) {
		folder, err := blobs.OpenFolder(path, blobs.Options{Now: p.now, Random: p.random})
		if err != nil || p.bucket == nil {
			return folder.Put, err
		}
		into, err := bucket.Reach(ctx, *p.bucket)
		if err != nil {
			return nil, err
		}
		return func(ctx context.Context, t ubl.TenantID, id ubl.BlobID, r io.Reader) error {
			if err := folder.Put(ctx, t, id, r); err != nil {
				return err
			}
			return moveBlob(ctx, folder, into, t, id, ubl.TimeOf(p.now()))
		}, nil
	}
}

// moveBlob moves a blob from a folder into a bucket.
func moveBlob(ctx context.Context, from *blobs.Folder, into *bucket.Bucket, t ubl.TenantID, id ubl.BlobID, now ubl.Time) (err error) {
	r, err := from.Open(ctx, t, id)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	size, err := r.Seek(0, io.SeekEnd)
	if err == nil {
		_, err = r.Seek(0, io.SeekStart)
	}
	if err == nil {
		err = into.Put(ctx, t, id, r, size)
	}
	if err == nil {
		_, err = from.Remove(ctx, t, id, now)
	}
	if err != nil {
		return fmt.Errorf("couldn't move a blob into the bucket: %w", err)
	}
	return nil
}
