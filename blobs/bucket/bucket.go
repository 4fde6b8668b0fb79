// Package bucket keeps blobs in a store that speaks S3, instead of in the nodes' folders. Its data
// are objects named PREFIX/TENANT/SHA256; the store owns them and keeps them durable. All nodes of
// a cluster share one bucket, so nothing is copied between them.
//
// Uploads still come in on a node's own disk: a blob is whole and known by its hash before the
// store hears of it. An upload to the store that breaks off leaves no object; [Bucket.Sweep] has the
// store forget the parts of a large one. A store that can't be reached is
// unavailable, and so is every blob; records and messages go on.
package bucket

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"

	"ubl"
	"ubl/blobs"
)

// Options say where the bucket is. Endpoint, Bucket, AccessKey and SecretKey are required.
type Options struct {
	// Endpoint is a URL: https://s3.eu-central-1.amazonaws.com.
	Endpoint string
	Region   string
	Bucket   string
	// Prefix begins the names of all objects; "" for none.
	Prefix               string
	AccessKey, SecretKey string
	// RemoveWithin is how long a removal may take; 0 is 30 seconds.
	RemoveWithin time.Duration
	// Transport carries the requests; nil for one of its own.
	Transport http.RoundTripper
}

// Bucket implements [ubl.Blobs].
type Bucket struct {
	client *minio.Client
	opts   Options
}

// Open makes a Bucket, and finds out whether the bucket is there.
func Open(ctx context.Context, o Options) (*Bucket, error) {
	at, err := url.Parse(o.Endpoint)
	if err != nil || at.Host == "" || at.Scheme != "https" && at.Scheme != "http" || strings.Trim(at.Path, "/") != "" {
		return nil, errors.New("the endpoint of the S3 store is a URL that begins with https:// or http://, without a path")
	}
	client, err := minio.New(at.Host, &minio.Options{
		Creds: credentials.NewStaticV4(o.AccessKey, o.SecretKey, ""), Secure: at.Scheme == "https", Region: o.Region, Transport: o.Transport,
	})
	if err != nil {
		return nil, fmt.Errorf("couldn't prepare the S3 store: %w", err)
	}
	o.Prefix = strings.Trim(o.Prefix, "/")
	if o.Prefix != "" {
		o.Prefix += "/"
	}
	if o.RemoveWithin <= 0 {
		o.RemoveWithin = removeWithin
	}
	there, err := client.BucketExists(ctx, o.Bucket)
	if err != nil {
		return nil, fmt.Errorf("couldn't reach the S3 store: %w", err)
	}
	if !there {
		return nil, fmt.Errorf("the S3 store has no bucket %q", o.Bucket)
	}
	return &Bucket{client, o}, nil
}

func (b *Bucket) name(t ubl.TenantID, id ubl.BlobID) (string, error) {
	if !t.Valid() || !id.Valid() {
		return "", ubl.Errorf(ubl.CodeInternal, "the name of a blob is not well formed")
	}
	return b.opts.Prefix + string(t) + "/" + string(id), nil
}

// failed is an error of the store. What isn't there is not_found, all else unavailable.
func failed(what string, err error) error {
	if err == nil {
		return nil
	}
	if code := minio.ToErrorResponse(err).StatusCode; code == http.StatusNotFound {
		return ubl.ErrNoBlob().Because(err)
	}
	return ubl.Errorf(ubl.CodeUnavailable, "the store of contents can't be reached, or refuses").Because(fmt.Errorf("couldn't %s: %w", what, err))
}

// Keep implements [ubl.Blobs]. An object that is there is written again, which alone renews when
// it was kept.
func (b *Bucket) Keep(ctx context.Context, t ubl.TenantID, id ubl.BlobID, path string) error {
	name, err := b.name(t, id)
	if err != nil {
		return err
	}
	if id == empty {
		if err := os.Remove(path); !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return nil
	}
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) { // it went there before, and nobody heard of it
		_, err := b.client.StatObject(ctx, b.opts.Bucket, name, minio.StatObjectOptions{})
		return failed("look for a blob", err)
	}
	if err != nil {
		return fmt.Errorf("couldn't keep a blob: %w", err)
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return fmt.Errorf("couldn't keep a blob: %w", err)
	}
	for stays := false; !stays; {
		if _, err = file.Seek(0, io.SeekStart); err != nil {
			return fmt.Errorf("couldn't keep a blob: %w", err)
		}
		if _, err = b.client.PutObject(ctx, b.opts.Bucket, name, file, info.Size(), putting()); err != nil {
			return failed("keep a blob", err)
		}
		if stays, err = b.stays(ctx, name); err != nil {
			return err
		}
	}
	if err := os.Remove(path); err != nil {
		return fmt.Errorf("couldn't keep a blob: %w", err)
	}
	return nil
}

// Put keeps what r holds of so many bytes, as when a backup is restored, while nobody removes blobs.
// Its reader checks it: what fails on the way makes no object.
func (b *Bucket) Put(ctx context.Context, t ubl.TenantID, id ubl.BlobID, r io.Reader, size int64) error {
	name, err := b.name(t, id)
	if err != nil {
		return err
	}
	if id == empty {
		return nil
	}
	_, err = b.client.PutObject(ctx, b.opts.Bucket, name, r, size, putting())
	return failed("keep a blob", err)
}

// Open implements [ubl.Blobs].
func (b *Bucket) Open(ctx context.Context, t ubl.TenantID, id ubl.BlobID) (io.ReadSeekCloser, error) {
	name, err := b.name(t, id)
	if err != nil {
		return nil, err
	}
	if id == empty {
		return blobs.Checked(nothing{bytes.NewReader(nil)}, id, 0)
	}
	object, err := b.client.GetObject(ctx, b.opts.Bucket, name, minio.GetObjectOptions{})
	if err != nil {
		return nil, failed("open a blob", err)
	}
	info, err := object.Stat()
	if err != nil {
		return nil, errors.Join(failed("open a blob", err), object.Close())
	}
	r, err := blobs.Checked(told{object}, id, info.Size)
	if err != nil {
		return nil, errors.Join(err, object.Close())
	}
	return r, nil
}

// putting says how objects are sent: with an MD5 of each part, by which any store tells a body that
// was changed on its way, and not in the chunks of AWS, which some stores keep as content.
func putting() minio.PutObjectOptions {
	return minio.PutObjectOptions{ContentType: ubl.UnknownType, SendContentMd5: true, DisableContentSha256: true}
}

// empty is the blob without a byte. Some stores refuse an object of that, so there is none: whoever
// asks for it has it.
var empty = ubl.BlobIDOf(sha256.Sum256(nil))

type nothing struct{ *bytes.Reader }

func (nothing) Close() error { return nil }

// told is an object whose errors have codes.
type told struct{ *minio.Object }

// Read implements [io.Reader].
func (o told) Read(p []byte) (int, error) {
	n, err := o.Object.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		err = failed("read a blob", err)
	}
	return n, err
}

// Each implements [ubl.Blobs]. What has another name than a blob's is passed over.
func (b *Bucket) Each(ctx context.Context, fn func(ubl.TenantID, ubl.Blob) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	for object := range b.client.ListObjectsIter(ctx, b.opts.Bucket, minio.ListObjectsOptions{Prefix: b.opts.Prefix, Recursive: true}) {
		if object.Err != nil {
			return failed("list the blobs", object.Err)
		}
		tenant, id, _ := strings.Cut(strings.TrimPrefix(object.Key, b.opts.Prefix), "/")
		t, blob := ubl.TenantID(tenant), ubl.Blob{ID: ubl.BlobID(id), Bytes: object.Size, KeptAt: ubl.TimeOf(object.LastModified)}
		if !t.Valid() || !blob.ID.Valid() {
			continue
		}
		if err := fn(t, blob); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// timeout bounds how long a start waits for the store.
const timeout = 30 * time.Second

// Reach is Open with a bound on how long that takes.
func Reach(ctx context.Context, o Options) (*Bucket, error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	return Open(ctx, o)
}
